import { contentOf, requestIdByContent } from '../../src/once/request-identity.ts';
import type { RunMode } from '../../src/runs/journal-entries.ts';
import type { RunRow } from '../../src/runs/run-row.ts';

export interface RowOptions {
  /** The rows have request IDs in the file. */
  requestIds?: boolean | undefined;
}

/** A row of a list: the same one in every run. */
export function rowOf(row: number, { requestIds = false }: RowOptions = {}): RunRow {
  const envelope = { templateId: 'tmpl_1', signers: [{ email: `s${row}@example.com`, name: `S ${row}` }] };
  const content = contentOf(envelope);
  return {
    row,
    line: row + 1,
    requestId: requestIds ? `own-${row}` : requestIdByContent(content, envelope.signers),
    identity: requestIds ? 'given' : 'content',
    content,
    cells: `cells-${row}`,
    envelope,
  };
}

/** What the journal of a run begins with. */
export function headOf(facts: { at: number; total: number; mode: RunMode; baseUrl: string }) {
  return { ...facts, file: 'rows.csv', profile: null, source: { format: 'csv' as const, encoding: 'utf-8' } };
}
