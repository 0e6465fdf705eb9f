import type { Mode, RowError, RunEntry } from '../entries.ts';
import type { EarlierRow } from './earlier-rows.ts';

/** What a new run does with the rows that earlier runs know. */
export interface KnownRows {
  /** They have their envelope and are skipped. */
  existing: EarlierRow[];
  /** Their draft is sent; no other one is created. */
  drafts: EarlierRow[];
  /** Another run is not done with them. */
  unfinished: EarlierRow[];
  /** Their request ID was used for something else. */
  other: EarlierRow[];
  /** Their request ID belongs to an envelope that nobody can sign anymore: they are refused. */
  ended: EarlierRow[];
}

export function sortKnown(rows: Iterable<EarlierRow>, mode: Mode): KnownRows {
  const known: KnownRows = { existing: [], drafts: [], unfinished: [], other: [], ended: [] };
  for (const row of rows) {
    if (row.kind === 'unfinished' || row.kind === 'other' || row.kind === 'ended') known[row.kind].push(row);
    else if (row.kind === 'draft' && mode !== 'draft') known.drafts.push(row);
    else known.existing.push(row);
  }
  return known;
}

/** What the journal of the new run says of these rows from its start. */
export function* knownEntries({ existing, drafts, ended }: KnownRows): Generator<RunEntry, void, undefined> {
  for (const { row, id, status, requestId } of existing) {
    if (id !== undefined) yield { type: 'existing', row, id, status: status ?? 'SENT', requestId };
  }
  for (const { row, id, requestId } of drafts) {
    if (id !== undefined) yield { type: 'created', row, id, adopted: true, requestId };
  }
  for (const row of ended)
    yield { type: 'failed', row: row.row, error: endedError(row), requestId: row.requestId };
}

/** Why a row is refused whose request ID belongs to an envelope that was canceled, declined, or has expired. */
export function endedMessage({
  requestId,
  id,
  status,
}: Pick<EarlierRow, 'requestId' | 'id' | 'status'>): string {
  return `The request ID ${requestId ?? ''} belongs to ${id ?? ''}, which is ${status ?? ''}. Use another one.`;
}

function endedError(row: EarlierRow): RowError {
  return { code: 'INVALID_STATE', message: endedMessage(row), status: 400, details: null };
}
