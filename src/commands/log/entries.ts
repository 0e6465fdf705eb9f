import { readRunIfHere } from '../../bulk/runs.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import type { LogEntry, LoggedWrite } from '../../log/entry.ts';
import { type LogFilter, readLog } from '../../log/read-log.ts';

/** Reads the log. If a run was killed, its envelopes are read from its journal. */
export async function writesOf(
  folder: string,
  { since, envelopeId }: LogFilter,
): Promise<{ writes: LoggedWrite[]; damaged: number }> {
  const { writes, damaged } = await readLog(folder, { since });
  for (const { entry } of writes)
    if (entry.run !== undefined && entry.counts === undefined)
      entry.envelopeIds = await envelopesOf(entry.run);
  const isSelected = ({ entry }: LoggedWrite) =>
    envelopeId === undefined || entry.envelopeIds.includes(envelopeId);
  return { writes: writes.filter(isSelected), damaged };
}

/** Reads the log without the data that only `log undo` needs. */
export async function entriesOf(
  folder: string,
  filter: LogFilter,
): Promise<{ entries: LogEntry[]; damaged: number }> {
  const { writes, damaged } = await writesOf(folder, filter);
  return { entries: writes.map(({ entry }) => entry), damaged };
}

async function envelopesOf(run: string): Promise<string[]> {
  try {
    return [...((await readRunIfHere(runsDir(), run))?.envelopeIds() ?? [])];
  } catch {
    // The journal of the run is damaged.
    return [];
  }
}
