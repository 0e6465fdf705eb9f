import { requestIdOf } from '../../catalog/markers.ts';
import { isVoid } from '../../kernel/statuses.ts';
import type { RowError } from '../../runs/journal-entries.ts';
import { type RowFacts, rowsOfRun } from '../../runs/results.ts';
import type { RunState } from '../../runs/run-state.ts';
import type { KeptEnvelope, RunEnvelopes, RunJournal } from './run-envelopes.ts';
import { type SignerState, signerStatesOf } from './signer-states.ts';

/** A signer of a run and their state. Times are ISO 8601. */
export interface SignerLine {
  row: number;
  /** The line of the row in the file; null without the journal. */
  line: number | null;
  requestId: string | null;
  envelopeId: string | null;
  envelopeStatus: string | null;
  state: SignerState;
  name: string | null;
  email: string | null;
  role: string | null;
  sentAt: string | null;
  signedAt: string | null;
  waitingSince: string | null;
  error: RowError | null;
  /** For a replaced envelope: the one that was sent instead. */
  replacedBy?: string;
}

/** Returns a line for each signer of a run, in the order of its rows. Without a journal, only rows with an envelope are known. */
export async function* signerLines(
  envelopes: RunEnvelopes,
  journal: RunJournal | undefined,
): AsyncGenerator<SignerLine, void, undefined> {
  if (journal === undefined)
    for (const row of envelopes.rows())
      for (const one of envelopes.ofRow(row)) yield* linesOf(one, { row, envelopes });
  else
    for await (const facts of rowsOfRun(journal.state, journal.files))
      yield* linesOfRow(facts, envelopes, journal.state);
}

function* linesOfRow(
  facts: RowFacts,
  envelopes: RunEnvelopes,
  state: RunState,
): Generator<SignerLine, void, undefined> {
  const { row, requestId } = facts;
  const { sameAs } = state.existingFactsOf(row);
  // A row with the same content as an earlier one has its envelope.
  const source = (sameAs === undefined ? undefined : state.rowAt(sameAs)) ?? row;
  const own = state.idOf(source);
  const error = state.errorOf(row) ?? null;
  const found = envelopes.ofRow(source, own);
  // This run canceled the draft, or someone else did before it was sent.
  const isRefused = error !== null && found.every((one) => isVoid(one));
  if (found.length === 0 || isRefused) yield* linesWithout(facts, state);
  else
    for (const one of found)
      yield* linesOf(one, { row, line: state.lineOf(row), envelopes, error, requestId, own });
}

interface LineFacts {
  row: number;
  line?: number | null;
  envelopes: RunEnvelopes;
  error?: RowError | null;
  requestId?: string | undefined;
  /** The envelope in the journal. */
  own?: string | undefined;
}

function* linesOf(envelope: KeptEnvelope, facts: LineFacts): Generator<SignerLine, void, undefined> {
  const { row, line = null, envelopes, error = null, own } = facts;
  const { id, status, sentAt } = envelope;
  const replacement = envelopes.replacementOf(id);
  const requestId = requestIdOf(envelope) ?? (id === own ? facts.requestId : undefined) ?? null;
  // If the service doesn't show the signers, the envelope still has a state.
  const signers = (envelope.signers?.length ?? 0) > 0 ? envelope.signers : [{}];
  for (const one of signerStatesOf({ ...envelope, signers }, replacement !== undefined)) {
    const { state, signer, signedAt, waitingSince } = one;
    yield {
      row,
      line,
      requestId,
      envelopeId: id,
      envelopeStatus: status ?? null,
      state,
      name: signer.name ?? null,
      email: signer.email ?? null,
      role: signer.role ?? null,
      sentAt: sentAt ?? null,
      signedAt,
      waitingSince,
      error: state === 'declined' ? declineError(signer.declineReason) : error,
      ...(state === 'replaced' && replacement ? { replacedBy: replacement.id } : {}),
    };
  }
}

/** Yields the lines of a row without an envelope: refused, not created yet, or created but no longer found at the service. */
function* linesWithout(
  { row, requestId, signers }: RowFacts,
  state: RunState,
): Generator<SignerLine, void, undefined> {
  const error = state.errorOf(row) ?? null;
  const envelopeId = error === null ? state.idOf(row) : undefined;
  const status = state.statusOf(row);
  for (const signer of signers?.length ? signers : [undefined])
    yield {
      row,
      line: state.lineOf(row),
      requestId: requestId ?? null,
      envelopeId: envelopeId ?? null,
      envelopeStatus: (envelopeId && status) ?? null,
      state: stateWithout(error, envelopeId, status),
      name: signer?.name ?? null,
      email: signer?.email ?? null,
      role: signer?.role ?? null,
      sentAt: null,
      signedAt: null,
      waitingSince: null,
      error: error ?? (envelopeId === undefined ? null : GONE),
    };
}

/** Returns the reason of a decline, in the form of an error. */
function declineError(reason: string | null | undefined): RowError {
  return { code: 'DECLINED', message: reason || 'No reason was given.', status: null, details: null };
}

const GONE: RowError = {
  code: 'NOT_FOUND',
  message: 'The service does not return this envelope.',
  status: 404,
  details: null,
};

function stateWithout(
  error: RowError | null,
  envelopeId: string | undefined,
  status: string | undefined,
): SignerState {
  if (error !== null) return 'failed';
  if (envelopeId === undefined) return 'pending';
  const [known] = signerStatesOf({ id: envelopeId, status, signers: [{}] });
  return known?.state ?? 'waiting';
}
