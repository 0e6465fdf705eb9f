import type { Mode, RowError, RunEntry } from '../entries.ts';
import type { EarlierRow } from './earlier-rows.ts';

/** The rows of a new run that earlier runs already handled, by what the new run does with them. */
export interface KnownRows {
  /** Rows that have an envelope and are skipped. */
  existing: EarlierRow[];
  /** Rows with a draft. It is sent, and no other one is created. */
  drafts: EarlierRow[];
  /** Rows of another run that has not finished. */
  unfinished: EarlierRow[];
  /** Rows whose request ID was used for something else. */
  other: EarlierRow[];
  /** Rows whose request ID belongs to an envelope that nobody can sign anymore. They are refused. */
  ended: EarlierRow[];
}

export function groupKnownRows(rows: Iterable<EarlierRow>, mode: Mode): KnownRows {
  const known: KnownRows = { existing: [], drafts: [], unfinished: [], other: [], ended: [] };
  for (const row of rows) {
    if (row.kind === 'unfinished' || row.kind === 'other' || row.kind === 'ended') known[row.kind].push(row);
    else if (row.kind === 'draft' && mode !== 'draft') known.drafts.push(row);
    else known.existing.push(row);
  }
  return known;
}

/** Yields the initial journal entries of the new run for these rows. */
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

/** Returns why a row is refused if its request ID belongs to an envelope that was canceled, was declined, or has expired. */
export function endedMessage(row: Pick<EarlierRow, 'requestId' | 'id' | 'status'>): string {
  const { requestId, id, status } = row;
  return `The request ID ${requestId ?? ''} belongs to ${id ?? ''}, which is ${status ?? ''}. Use a different one.`;
}

/** Returns why a row is refused if its request ID was used for something else. */
export function differentContentMessage({ requestId, id, run }: EarlierRow): string {
  return `"${requestId ?? ''}" was used for ${id ?? run ?? 'an envelope'} with a different template, different signers, or a different text; use a new one`;
}

export function endedError(row: EarlierRow): RowError {
  return { code: 'INVALID_STATE', message: endedMessage(row), status: 400, details: null };
}
