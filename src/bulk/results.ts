import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import type { RowError } from './entries.ts';
import { readPlan } from './plan.ts';
import { derivedRequestId, type RunState } from './run-state.ts';
import type { RunFiles } from './runs.ts';

/** What became of a row. */
export interface RowResult {
  run: string;
  row: number;
  requestId: string | null;
  ok: boolean;
  envelopeId: string | null;
  /** Of the envelope, as last seen; null when there is none yet. */
  status: string | null;
  error: RowError | null;
}

/** What the state tells of a row; `requestId` where the caller knows the user's own. */
export function resultOf(state: RunState, row: number, requestId?: string): RowResult {
  return {
    run: state.head.id,
    row,
    requestId: requestId ?? state.requestIdOf(row) ?? null,
    ok: state.of(row) === 'done',
    envelopeId: state.idOf(row) ?? null,
    status: state.statusOf(row) ?? null,
    error: state.errorOf(row) ?? null,
  };
}

/** The results of all rows, in order. */
export async function* resultsOf(
  state: RunState,
  files: RunFiles,
): AsyncGenerator<RowResult, void, undefined> {
  let row = 1;
  // Only the plan has the user's request ids of rows that are not settled; a finished run has none left.
  for await (const { requestId } of readPlan(files.plan)) {
    yield resultOf(state, row, requestId ?? derivedRequestId(state.head.id, row));
    row++;
  }
  for (; row <= state.head.total; row++) yield resultOf(state, row);
}

/** Columns of results.csv. */
export const RESULT_COLUMNS = ['row', 'request_id', 'envelope_id', 'status', 'error'];

/** The cells of a result under these columns. */
export function resultCells({ row, requestId, envelopeId, status, error }: RowResult): string[] {
  return [String(row), requestId ?? '', envelopeId ?? '', status ?? '', errorInWords(error)];
}

/** Writes results.csv beside the journal. */
export async function writeResults(state: RunState, files: RunFiles): Promise<void> {
  async function* rows() {
    for await (const result of resultsOf(state, files)) yield resultCells(result);
  }
  await pipeline(
    Readable.from(rows()),
    // A cell that a spreadsheet would run as a formula is quoted with an apostrophe.
    stringify({ header: true, columns: RESULT_COLUMNS, escape_formulas: true }),
    createWriteStream(files.results, { mode: 0o600 }),
  );
}

/** `VALIDATION_ERROR: The request body is not valid (signers.0.role: …)` */
export function errorInWords(error: RowError | null): string {
  if (error === null) return '';
  const details = Object.entries(error.details ?? {}).map(
    ([field, texts]) => `${field}: ${texts.join('; ')}`,
  );
  return `${error.code}: ${error.message}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}
