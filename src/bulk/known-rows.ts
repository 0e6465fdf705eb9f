import { hasEnded } from '../kernel/statuses.ts';
import type { FoundEnvelope } from '../once/look.ts';
import { envelopeEndedError, requestIdUsedError } from '../once/refusals.ts';
import type { WordingField } from '../once/wording.ts';
import type { RowError, RunEntry, RunMode } from '../runs/journal-entries.ts';

/** A row of a list that has an envelope already. */
export interface KnownRow {
  row: number;
  line: number;
  found: FoundEnvelope;
}

/** A row with the same content as an earlier one. */
export interface RepeatedRow {
  row: number;
  line: number;
  /** The line of the earlier one. */
  sameAs: number;
  requestId: string;
}

/** The rows of a list that have an envelope already, by what a new run does with them. */
export interface KnownRows {
  /** Skipped: the envelope was sent. */
  existing: KnownRow[];
  /** Skipped: an earlier row of the list has the same content. */
  repeated: RepeatedRow[];
  /** The draft is sent, and no other one is created. */
  drafts: KnownRow[];
  /** The draft has an earlier wording. It is canceled, and a new one is created. */
  corrected: KnownRow[];
  /** Refused: the request ID was used for something else. */
  other: KnownRow[];
  /** Refused: the request ID belongs to an envelope that nobody can sign anymore, and that is not completed. */
  ended: KnownRow[];
}

/** Groups rows by what a run in this mode does with them. */
export function groupKnownRows(
  rows: Iterable<KnownRow>,
  repeated: readonly RepeatedRow[],
  mode: RunMode,
): KnownRows {
  const known: KnownRows = {
    existing: [],
    repeated: [...repeated],
    drafts: [],
    corrected: [],
    other: [],
    ended: [],
  };
  for (const row of [...rows].toSorted((one, other) => one.row - other.row))
    known[groupOf(row.found, mode)].push(row);
  return known;
}

function groupOf(
  { request, envelope, changed, usedFor }: FoundEnvelope,
  mode: RunMode,
): Exclude<keyof KnownRows, 'repeated'> {
  if (usedFor !== undefined) return 'other';
  if (envelope.status === 'DRAFT') {
    if (changed.length > 0) return 'corrected';
    return mode === 'draft' ? 'existing' : 'drafts';
  }
  return request.identity === 'given' && hasEnded(envelope) ? 'ended' : 'existing';
}

/** Yields the first journal entries of the new run for the rows that it doesn't work on. */
export function* journalEntriesOfKnownRows({
  existing,
  repeated,
  ended,
}: KnownRows): Generator<RunEntry, void, undefined> {
  for (const { row, found } of existing) {
    const { id, status } = found.envelope;
    const changed = found.changed.length > 0 ? [...found.changed] : undefined;
    yield { type: 'existing', row, id, status: status ?? 'SENT', changed };
  }
  for (const { row, sameAs } of repeated) yield { type: 'existing', row, sameAs };
  for (const row of ended)
    yield { type: 'failed', row: row.row, error: rowErrorOf(row), id: row.found.envelope.id };
}

/** Returns why a row is refused whose request ID belongs to an envelope that nobody can sign anymore. */
export function rowErrorOf({ found }: KnownRow): RowError {
  const { code, message, status } = envelopeEndedError(found);
  return { code, message, status, details: null };
}

/** Returns why a row is refused whose request ID was used for something else, as the problem of a cell. */
export function differentContentMessage({ found }: KnownRow): string {
  return `${requestIdUsedError(found).message.replace(/\.$/, '')}; use a new one`;
}

/** A line whose wording differs from what was sent, with what differs. */
export interface ChangedLine {
  line: number;
  envelopeId: string;
  changed: readonly WordingField[];
}

/** Returns the lines whose wording differs from what was sent. */
export function changedLines({ existing }: KnownRows): ChangedLine[] {
  return existing.flatMap(({ line, found: { envelope, changed } }) =>
    changed.length > 0 ? [{ line, envelopeId: envelope.id, changed }] : [],
  );
}
