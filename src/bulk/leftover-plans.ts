import { open, rm } from 'node:fs/promises';
import { exists } from '../kernel/files/files.ts';
import { saveFailedRows } from './failed-rows.ts';
import { writeResults } from './results.ts';
import { filesOf, type OpenRun, openRun, runIds } from './runs.ts';

/** Enough to contain the last entries of a run's journal. */
const END_BYTES = 4_096;

/** Deletes the plan of a finished run, since it contains addresses and perhaps secrets. */
export async function deletePlan({ state, files }: OpenRun): Promise<void> {
  await saveFailedRows(state, files);
  await rm(files.plan, { force: true });
}

/** Deletes the plans that finished runs left behind because they were killed or could not write their results. */
export async function deleteLeftoverPlans(root: string): Promise<void> {
  for (const id of await runIds(root)) {
    const { plan, journal } = filesOf(root, id);
    // The next call tries again if the run is in use or can't be read.
    if ((await exists(plan)) && (await seemsFinished(journal).catch(() => false)))
      await deleteLeftoverPlan(root, id).catch(() => undefined);
  }
}

async function deleteLeftoverPlan(root: string, id: string): Promise<void> {
  const run = await openRun(root, id);
  try {
    // The last line may have been incomplete, and another process may have deleted the plan in the meantime.
    if (run.state.finishedAt === undefined || !(await exists(run.files.plan))) return;
    await writeResults(run.state, run.files);
    await deletePlan(run);
  } finally {
    await run.close();
  }
}

/** Returns true if the run seems to be finished. Only the end of the journal is read, because one of many rows takes long. */
async function seemsFinished(journal: string): Promise<boolean> {
  const file = await open(journal);
  try {
    const start = Math.max(0, (await file.stat()).size - END_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, start);
    return buffer.toString('utf8', 0, bytesRead).includes('"type":"finished"');
  } finally {
    await file.close();
  }
}
