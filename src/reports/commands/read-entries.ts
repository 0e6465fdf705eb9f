import { runsDir } from '../../kernel/files/paths.ts';
import { readLog } from '../../log/read-log.ts';
import { type LogEntry, logEntryOf } from '../../log/shown-entry.ts';
import { sessionsOf } from '../../runs/run-list.ts';

/**
 * Reads the entries of the log. The envelopes of a bulk run are in its journal. If an interrupted run was resumed, each of its
 * entries has the outcome of the last one.
 */
export async function readEntries(
  folder: string,
  { since, envelopeId }: { since?: number | undefined; envelopeId?: string | undefined } = {},
): Promise<LogEntry[]> {
  const entries = (await readLog(folder)).map(logEntryOf);
  const outcomes = new Map(entries.map(({ run, outcome }) => [run, outcome]));
  for (const entry of entries) {
    if (entry.run === undefined) continue;
    entry.outcome = outcomes.get(entry.run) ?? entry.outcome;
    entry.envelopeIds = await envelopesOf(entry.run, Date.parse(entry.at));
  }
  return entries
    .filter(({ at }) => since === undefined || Date.parse(at) >= since)
    .filter(({ envelopeIds }) => envelopeId === undefined || envelopeIds.includes(envelopeId));
}

/** Returns the envelopes that a process created or sent for a run. `at`: when its entry was made, in ms. */
async function envelopesOf(run: string, at: number): Promise<string[]> {
  try {
    const session = (await sessionsOf(runsDir(), run)).findLast(({ since }) => since <= at);
    return [...(session?.envelopeIds ?? [])];
  } catch {
    // The journal of the run is damaged.
    return [];
  }
}
