import { readRunIfHere } from '../../bulk/runs.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import type { LoggedWrite } from '../../log/entry.ts';
import { type LogReading, readLog } from '../../log/read-log.ts';

/** Reads the log. If a run was killed, its envelopes are those in its journal that no other entry of the run contains. */
export async function writesOf(
  folder: string,
  { since, envelopeId }: { since?: number | undefined; envelopeId?: string | undefined } = {},
): Promise<LogReading> {
  const { writes, damaged } = await readLog(folder, since);
  for (const { entry } of writes) {
    if (entry.run === undefined || entry.counts !== undefined) continue;
    const { writes: all } = since === undefined ? { writes } : await readLog(folder);
    const others = all.filter((one) => one.entry.run === entry.run && one.entry.counts !== undefined);
    const known = new Set(others.flatMap((one) => one.entry.envelopeIds));
    entry.envelopeIds = (await envelopesOf(entry.run)).filter((id) => !known.has(id));
  }
  const isSelected = ({ entry }: LoggedWrite) =>
    envelopeId === undefined || entry.envelopeIds.includes(envelopeId);
  return { writes: writes.filter(isSelected), damaged };
}

async function envelopesOf(run: string): Promise<string[]> {
  try {
    return [...((await readRunIfHere(runsDir(), run))?.envelopeIds() ?? [])];
  } catch {
    // The journal of the run is damaged.
    return [];
  }
}
