import { stateDir } from '../../kernel/files/paths.ts';
import { readRecord, recordPath, writeRecord } from '../../update/record.ts';
import { configuredRegistry, latestVersion } from '../../update/registry.ts';

/**
 * `esign __update`, a process of its own that nobody waits for: asks npm's registry for the latest version and keeps the
 * answer for the next run. Whatever goes wrong, it says nothing; in a day there is another try.
 */
export async function main(): Promise<void> {
  try {
    const registry = await configuredRegistry();
    if (registry === undefined) return;
    const latest = await latestVersion(registry, 'esign-cli');
    const path = recordPath(stateDir());
    writeRecord(path, { ...readRecord(path), latest });
  } catch {
    // No network, no registry, no disk: it is only a notice.
  }
}
