import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { DAY_MS } from '../kernel/duration.ts';
import { readLine } from '../lines/checksummed-line.ts';
import { linesOf } from '../lines/read-lines.ts';
import type { RunState } from './run-state.ts';
import { readSavedRows, SavedRowsWriter } from './saved-rows.ts';

/** How long the addresses of failed rows are kept, in ms. */
const RETENTION_MS = 30 * DAY_MS;
const NAME = 'failed.jsonl';

const signerSchema = z.object({ email: z.string(), name: z.string(), role: z.optional(z.string()) });
const failedRowSchema = z.object({ row: z.number(), signers: z.array(signerSchema) });
export type FailedSigner = z.infer<typeof signerSchema>;

/** Returns the path of a run's failed rows, which are kept after its plan is deleted. */
export function failedFile(folder: string): string {
  return join(folder, NAME);
}

/** Keeps the signers of the failed rows of a finished run. Nothing is kept of the other rows. */
export async function saveFailedRows(
  state: RunState,
  files: { plan: string; failed: string },
): Promise<void> {
  if (state.count('failed') === 0) return;
  await rm(files.failed, { force: true });
  const writer = await SavedRowsWriter.create(files.failed);
  try {
    for await (const { row, envelope } of readSavedRows(files.plan)) {
      if (state.of(row) !== 'failed') continue;
      await writer.add(failedRowSchema.parse({ row, signers: envelope.signers }));
    }
  } finally {
    await writer.close();
  }
}

/** Returns the signers of the failed rows of a finished run, by row. */
export async function failedSigners(path: string): Promise<Map<number, FailedSigner[]>> {
  const rows = new Map<number, FailedSigner[]>();
  for await (const { bytes } of linesOf(path)) {
    const { data } = failedRowSchema.safeParse(readLine(bytes));
    if (data !== undefined) rows.set(data.row, data.signers);
  }
  return rows;
}

/** Deletes the addresses of rows that failed more than 30 days ago. */
export async function removeOldFailedRows(root: string, now: number): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const path = failedFile(join(root, name));
    const file = await stat(path).catch(() => undefined);
    if (file !== undefined && now - file.mtimeMs > RETENTION_MS) await rm(path, { force: true });
  }
}
