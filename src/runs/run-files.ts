import { join } from 'node:path';
import { failedFile } from './failed-rows.ts';

/** The files of a run. */
export interface RunFiles {
  folder: string;
  journal: string;
  plan: string;
  /** The signers of the failed rows, once the plan is deleted. */
  failed: string;
  lock: string;
}

/** Returns the paths of a run's files, below the user's state folder. */
export function filesOf(root: string, id: string): RunFiles {
  const folder = join(root, id);
  return {
    folder,
    journal: join(folder, 'journal.jsonl'),
    plan: join(folder, 'rows.jsonl'),
    failed: failedFile(folder),
    lock: join(folder, 'lock'),
  };
}
