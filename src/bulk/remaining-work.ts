import type { PlannedWrite } from '../api/write-gate.ts';
import { requestsFor } from './estimate.ts';
import { readPlan } from './plan-run.ts';
import type { OpenRun } from './runs.ts';

/** What is left of a run up to a row. */
export interface RemainingWork {
  rows: number;
  signers: number;
  requests: number;
  /** The write, for the guards to check. */
  write: PlannedWrite;
}

/** Returns what is left to do for the rows of a run up to the row `last`. */
export async function remainingWork({ state, files }: OpenRun, last: number): Promise<RemainingWork> {
  const { mode } = state.head;
  const emails: string[] = [];
  let [rows, drafts] = [0, 0];
  for await (const { row, envelope } of readPlan(files.plan)) {
    if (row > last || state.isFinished(row)) continue;
    rows++;
    if (state.of(row) === 'created') drafts++;
    emails.push(...envelope.signers.map(({ email }) => email));
  }
  return {
    rows,
    signers: emails.length,
    requests: requestsFor(rows - drafts, mode) + drafts,
    write: { action: 'create', emails, sends: mode !== 'draft' },
  };
}
