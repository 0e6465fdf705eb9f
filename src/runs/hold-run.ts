import { rm } from 'node:fs/promises';
import { openRun, readRunIfHere } from './runs.ts';

/** A run that is about to be ended. No other process can work on it until it is released. */
export interface HeldRun {
  /** Ends the run for good: it can't be resumed. `by`: the run that continues its list. */
  end(now: number, by?: string): Promise<void>;
  release(): Promise<void>;
}

/**
 * Keeps other processes from working on a run. Returns undefined if the run is not on this machine or has already finished.
 * @throws UsageError when another process is working on it.
 */
export async function holdRun(root: string, id: string): Promise<HeldRun | undefined> {
  const state = await readRunIfHere(root, id);
  if (state === undefined || state.finishedAt !== undefined) return undefined;
  const run = await openRun(root, id);
  if (run.state.finishedAt !== undefined) {
    await run.close();
    return undefined;
  }
  return {
    async end(now, by) {
      if (run.state.endedAt === undefined) await run.note({ type: 'ended', at: now, by });
      // It contains the addresses of all rows, and no row is needed anymore.
      await rm(run.files.plan, { force: true });
    },
    release: () => run.close(),
  };
}
