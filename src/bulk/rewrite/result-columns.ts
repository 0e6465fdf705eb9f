import { errorInWords } from '../../runs/results.ts';
import type { SignerLine } from '../status/signer-lines.ts';
import { rowStateOf } from '../status/signer-states.ts';

/** The columns that `bulk export --into` adds to the source file, in this order. */
export const ADDED_COLUMNS = [
  'esign_row_status',
  'esign_envelope_id',
  'esign_signed_at',
  'esign_waiting_for',
  'esign_error',
] as const;
export type AddedColumn = (typeof ADDED_COLUMNS)[number];

/** The result cells of a row. Unknown values are empty. */
export type ResultCells = Readonly<Record<AddedColumn, string>>;

export const NO_RESULT: ResultCells = {
  esign_row_status: '',
  esign_envelope_id: '',
  esign_signed_at: '',
  esign_waiting_for: '',
  esign_error: '',
};

/** Returns the result cells of a row: those of its envelope or, if it was replaced, of its replacement. */
export function cellsOf(lines: readonly SignerLine[]): ResultCells {
  const current = lines.findLast(({ state }) => state !== 'replaced' && state !== 'draft') ?? lines[0];
  const own = lines.filter(({ envelopeId }) => envelopeId === current?.envelopeId);
  const isSigned = own.every(({ state }) => state === 'signed');
  const signedAt = own.map((line) => line.signedAt ?? '').toSorted();
  return {
    esign_row_status: rowStateOf(own.map(({ state }) => state)) ?? '',
    esign_envelope_id: current?.envelopeId ?? '',
    esign_signed_at: isSigned ? (signedAt.at(-1) ?? '') : '',
    esign_waiting_for: own
      .filter(({ state }) => state === 'waiting')
      .map(({ name, email }) => name ?? email ?? '')
      .join('; '),
    esign_error: reasonIn(own),
  };
}

/** Returns why a row failed or was declined. */
function reasonIn(lines: readonly SignerLine[]): string {
  const error = lines.find((line) => line.error !== null)?.error ?? null;
  return error?.code === 'DECLINED' ? `Declined: ${error.message}` : errorInWords(error);
}

/** Returns the result column with that name, ignoring case. */
export function resultColumnNamed(name: string): AddedColumn | undefined {
  const word = name.trim().toLowerCase();
  return ADDED_COLUMNS.find((column) => column === word);
}
