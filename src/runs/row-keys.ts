import { exists } from '../kernel/files/files.ts';
import { isRecord } from '../kernel/json.ts';
import { readLine } from '../lines/checksummed-line.ts';
import { linesOf } from '../lines/read-lines.ts';
import { damagedLineError, noFirstEntryError } from '../lines/scan.ts';
import { RUN_FORMAT, type RunEntry, type RunHead } from './journal-entries.ts';
import { filesOf } from './run-files.ts';

type Keys = Extract<RunEntry, { type: 'rows' }>;

/**
 * Yields the head of a journal and the keys of its rows; nothing for a journal of another version.
 * @throws UsageError if one of these lines is damaged, or the head is missing.
 */
export async function* rowKeysOf(root: string, id: string): AsyncGenerator<RunHead | Keys, void, undefined> {
  const { journal } = filesOf(root, id);
  let hasHead = false;
  let line = 0;
  for await (const { bytes } of linesOf(journal)) {
    line++;
    const value = readLine(bytes);
    // These lines are on disk before the journal has its name, so none of them can be incomplete.
    if (value === undefined) throw damagedLineError(line, journal);
    if (line === 1 && isOtherVersion(value)) return;
    const entry = RUN_FORMAT.read(value);
    if (entry?.type === 'run' || entry?.type === 'rows') yield entry;
    else if (hasHead) return;
    hasHead ||= entry?.type === 'run';
  }
  if (!hasHead && (await exists(journal))) throw noFirstEntryError(journal);
}

function isOtherVersion(header: unknown): boolean {
  return isRecord(header) && header.version !== RUN_FORMAT.version;
}
