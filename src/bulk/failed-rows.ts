import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readLine } from '../journal/line.ts';
import { linesOf } from '../journal/lines.ts';
import { isList, isRecord } from '../kernel/json.ts';
import { PlanWriter, readPlan } from './plan-run.ts';
import type { RunState } from './run-state.ts';

/** How long the addresses of failed rows are kept, and how long rows that were sent are not sent again, in ms. */
export const RETENTION_MS = 30 * 86_400_000;
const NAME = 'failed.jsonl';

export interface FailedSigner {
  email: string;
  name: string;
  role?: string | undefined;
}

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
  const writer = await PlanWriter.create(files.failed);
  try {
    for await (const { row, envelope } of readPlan(files.plan)) {
      if (state.of(row) !== 'failed') continue;
      const signers = envelope.signers.map(({ email, name, role }): FailedSigner => ({ email, name, role }));
      await writer.add({ row, signers });
    }
  } finally {
    await writer.close();
  }
}

/** Returns the signers of the failed rows of a finished run, by row. */
export async function failedSigners(path: string): Promise<Map<number, FailedSigner[]>> {
  const rows = new Map<number, FailedSigner[]>();
  for await (const { bytes } of linesOf(path)) {
    const value = readLine(bytes);
    if (!isRecord(value) || typeof value.row !== 'number' || !isList(value.signers)) continue;
    rows.set(value.row, value.signers.filter(isSigner));
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

function isSigner(value: unknown): value is FailedSigner {
  return (
    isRecord(value) &&
    typeof value.email === 'string' &&
    typeof value.name === 'string' &&
    (value.role === undefined || typeof value.role === 'string')
  );
}
