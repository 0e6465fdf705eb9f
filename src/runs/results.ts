import type { FailedWriteOutcome } from '../kernel/errors.ts';
import { type FailedSigner, failedSigners } from './failed-rows.ts';
import type { RowError } from './journal-entries.ts';
import type { RunFiles } from './run-files.ts';
import type { RunState } from './run-state.ts';
import { readSavedRows } from './saved-rows.ts';

export interface RowResult {
  /** Null for a row that was sent by another command. */
  run: string | null;
  row: number;
  /** The line in the file. */
  line: number | null;
  requestId: string | null;
  ok: boolean;
  envelopeId: string | null;
  /** The last known status of the envelope; null before it is created. */
  status: string | null;
  error: RowError | null;
  /** For an existing envelope: the parts of the wording in which it differs from the row. */
  changed?: readonly string[] | undefined;
  /** For a row that is skipped: the line of the row with the same content. */
  sameAs?: number | undefined;
  /** Kept for 30 days, for messages. Only for a failed row. */
  signers?: FailedSigner[] | undefined;
}

/** The status of a row whose envelope an earlier run created. */
export const EXISTING_STATUS = 'EXISTING';

/** Returns the result of a row. Pass `signers` if you know them. */
export function rowResultOf(state: RunState, row: number, signers?: readonly FailedSigner[]): RowResult {
  const error = state.errorOf(row);
  const isExisting = state.of(row) === 'existing';
  const { changed, sameAs } = state.existingFactsOf(row);
  return {
    run: state.head.id,
    row,
    line: state.lineOf(row),
    requestId: state.requestIdOf(row) ?? null,
    ok: state.of(row) === 'done' || isExisting,
    envelopeId: state.idOf(row) ?? null,
    status: isExisting ? EXISTING_STATUS : (state.statusOf(row) ?? null),
    error: error ?? null,
    ...(changed === undefined ? {} : { changed }),
    ...(sameAs === undefined ? {} : { sameAs }),
    ...(error === undefined || signers === undefined
      ? {}
      : { signers: signers.map(({ email, name }) => ({ email, name })) }),
  };
}

/** Returns a result as it is printed: addresses are in messages only, and an error has the outcome, which is known by then. */
export function resultAsJson({ signers: _, error, ...result }: RowResult) {
  const isLeft = result.envelopeId !== null && result.status !== 'CANCELLED';
  const outcome: FailedWriteOutcome = isLeft ? 'done' : 'none';
  return { ...result, error: error && { ...error, outcome } };
}

/** An envelope in addition to the one that counts for its row. */
export interface SecondEnvelope {
  row: number;
  id: string;
  status: string;
  /** The envelope that counts. */
  kept: string;
}

/** Returns the result for a second envelope of a row, as a failure of that row. */
export function secondResult(state: RunState, { row, id, status, kept }: SecondEnvelope): RowResult {
  const what = status === 'DRAFT' ? 'a draft that could not be canceled' : status;
  return {
    ...rowResultOf(state, row),
    ok: false,
    envelopeId: id,
    status,
    error: {
      code: 'SECOND_ENVELOPE',
      message: `Row ${row} has a second envelope, ${id} (${what}), in addition to ${kept}.`,
      status: null,
      details: null,
    },
  };
}

/** What is known of a row, whatever its result. */
export interface RowFacts {
  row: number;
  requestId: string | undefined;
  /** Those of open rows and of failed rows, if this machine still has them. */
  signers: readonly FailedSigner[] | undefined;
}

/** Yields the rows of a run in order. */
export async function* rowsOfRun(
  state: RunState,
  files: RunFiles,
): AsyncGenerator<RowFacts, void, undefined> {
  const { total } = state.head;
  let row = 1;
  // A finished run has no plan.
  for await (const { requestId, envelope } of readSavedRows(files.plan)) {
    yield { row, requestId, signers: envelope.signers };
    row++;
  }
  const failed = row <= total ? await failedSigners(files.failed) : undefined;
  for (; row <= total; row++) yield { row, requestId: state.requestIdOf(row), signers: failed?.get(row) };
}

/** Yields the results of all rows, in order. */
export async function* rowResultsOf(
  state: RunState,
  files: RunFiles,
): AsyncGenerator<RowResult, void, undefined> {
  for await (const { row, signers } of rowsOfRun(state, files)) yield rowResultOf(state, row, signers);
}

export const RESULT_COLUMNS = ['row', 'line', 'request_id', 'envelope_id', 'status', 'error'];

/** Returns the cells of a result, in the order of these columns. */
export function resultCells({ row, line, requestId, envelopeId, status, error }: RowResult): string[] {
  return [
    String(row),
    String(line ?? ''),
    requestId ?? '',
    envelopeId ?? '',
    status ?? '',
    errorInWords(error),
  ];
}

/** Returns an error as text: `VALIDATION_ERROR: The request body is not valid (signers.0.role: …)` */
export function errorInWords(error: RowError | null): string {
  if (error === null) return '';
  const details = Object.entries(error.details ?? {}).map(
    ([field, texts]) => `${field}: ${texts.join('; ')}`,
  );
  return `${error.code}: ${error.message}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}
