import { readRunIfHere } from '../../bulk/runs.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { entryOf, type LogEntry } from '../log-entry.ts';
import { readLog } from '../read-log.ts';

/**
 * Reads the entries of the log. The envelopes of a bulk run are in its journal. If an interrupted run was resumed, each of its
 * entries has the outcome of the last one.
 */
export async function readEntries(
  folder: string,
  { since, envelopeId }: { since?: number | undefined; envelopeId?: string | undefined } = {},
): Promise<LogEntry[]> {
  const entries = (await readLog(folder)).map(entryOf);
  const runs = new Map<string, { outcome: LogEntry['outcome']; envelopeIds: readonly string[] }>();
  for (const { run, outcome } of entries) if (run !== undefined) runs.set(run, { outcome, envelopeIds: [] });
  for (const [run, known] of runs) known.envelopeIds = await envelopesOf(run);
  return entries
    .map((entry) => ({ ...entry, ...runs.get(entry.run ?? '') }))
    .filter(({ at }) => since === undefined || Date.parse(at) >= since)
    .filter(({ envelopeIds }) => envelopeId === undefined || envelopeIds.includes(envelopeId));
}

async function envelopesOf(run: string): Promise<string[]> {
  try {
    return [...((await readRunIfHere(runsDir(), run))?.envelopeIds() ?? [])];
  } catch {
    // The journal of the run is damaged.
    return [];
  }
}
