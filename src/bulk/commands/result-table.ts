import type { ListView } from '../../output/print-list.ts';
import { RESULT_COLUMNS, type RowResult, resultCells } from '../../runs/results.ts';

/** The list view of a run's results, for CSV or --fields. */
export const resultList: ListView<RowResult> = {
  id: (result) => result.envelopeId ?? '',
  empty: 'The run has no rows.',
  columns: RESULT_COLUMNS.map((key, index) => ({ key, value: (result) => resultCells(result)[index] ?? '' })),
};
