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

/** Returns the result column with that name, ignoring case. */
export function resultColumnNamed(name: string): AddedColumn | undefined {
  const word = name.trim().toLowerCase();
  return ADDED_COLUMNS.find((column) => column === word);
}
