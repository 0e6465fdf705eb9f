import { stateDir } from '../../kernel/files/paths.ts';
import { readRecord, recordPath, writeRecord } from '../../update/record.ts';
import { configuredRegistry, latestVersion } from '../../update/registry.ts';

/**
 * Runs `esign __update`, a background process that asks the npm registry for the latest version and stores it for the next run.
 * It reports no errors. The next attempt is a day later.
 */
export async function main(): Promise<void> {
  try {
    const registry = await configuredRegistry();
    if (registry === undefined) return;
    const latest = await latestVersion(registry, 'esign-cli');
    const path = recordPath(stateDir());
    writeRecord(path, { ...readRecord(path), latest });
  } catch {
    // Without a network, registry, or disk, no notice is shown.
  }
}
