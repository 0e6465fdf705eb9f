import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { readIfExists } from '../../catalog/envelope-list.ts';
import { replacedBy, requestIdOf, rowOf, runOf } from '../../catalog/markers.ts';
import { isVoid } from '../../kernel/statuses.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { byPrecedence } from '../../once/precedence.ts';
import type { RowError } from '../../runs/entries.ts';
import { requireSameOrganization } from '../../runs/remembered-rows.ts';
import { type RowFacts, rowsOfRun } from '../../runs/results.ts';
import type { RunState } from '../../runs/run-state.ts';
import type { RunFiles } from '../../runs/runs.ts';
import { type SignerState, signerStatesOf } from './signer-states.ts';

/** A signer of a run and their state. Times are ISO 8601. */
export interface StatusLine {
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

/** The journal of a run on this machine. */
export interface RunJournal {
  state: RunState;
  files: RunFiles;
}

/**
 * Collects the envelopes of a run. Envelopes that are in the journal but not in the list are read one by one.
 * @throws UsageError if the run has envelopes but the key can read none.
 */
export async function collectEnvelopes(
  runId: string,
  envelopes: AsyncIterable<Envelope>,
  { client, journal, signal }: { client: Client; journal: RunJournal | undefined; signal: AbortSignal },
): Promise<RunEnvelopes> {
  const found = new RunEnvelopes(runId);
  for await (const one of envelopes) found.add(one);
  if (journal === undefined) return found;
  const { state } = journal;
  const missing = [...state.envelopeIds()].filter((id) => !found.has(id));
  if (missing.length > 0 && found.size === 0) await requireSameOrganization(state, client, signal);
  const read = (id: string) => readIfExists(client, id, signal);
  for await (const one of mapInOrder(missing, READ_CONCURRENCY, read)) if (one) found.add(one);
  return found;
}

/** Returns a line for each signer of a run, in the order of its rows. Without a journal, only rows with an envelope are known. */
export async function* statusLines(
  envelopes: RunEnvelopes,
  journal: RunJournal | undefined,
): AsyncGenerator<StatusLine, void, undefined> {
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
): Generator<StatusLine, void, undefined> {
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

function* linesOf(envelope: KeptEnvelope, facts: LineFacts): Generator<StatusLine, void, undefined> {
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
): Generator<StatusLine, void, undefined> {
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

/** The part of an envelope that is kept in memory, since a run may have ten thousand. */
type KeptEnvelope = Pick<
  Envelope,
  'id' | 'status' | 'signingOrder' | 'sentAt' | 'createdAt' | 'signers' | 'metadata'
>;

/** The envelopes of a run by row, and their replacements. */
class RunEnvelopes {
  readonly #runId: string;
  readonly #byId = new Map<string, KeptEnvelope>();
  /** The row comes from the marker in the metadata. */
  readonly #byRow = new Map<number, string[]>();
  readonly #replacements = new Map<string, string[]>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  add({ id, status, signingOrder, sentAt, createdAt, signers, metadata }: Envelope): void {
    const kept = { id, status, signingOrder, sentAt, createdAt, signers, metadata };
    this.#byId.set(id, kept);
    const old = replacedBy(kept);
    if (runOf(kept) === this.#runId) {
      const row = rowOf(kept);
      if (row !== undefined) push(this.#byRow, row, id);
    } else if (old !== undefined) push(this.#replacements, old, id);
  }

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Returns the rows that the metadata names, in order. */
  rows(): number[] {
    return [...this.#byRow.keys()].sort((a, b) => a - b);
  }

  /**
   * Returns the envelopes of a row, each followed by its replacements. `own` is the envelope in the journal. Canceled drafts are
   * left out, unless a row has nothing else: then one of them is returned.
   */
  ofRow(row: number, own?: string): KeptEnvelope[] {
    const found = new Set<string>();
    for (const id of [...(own === undefined ? [] : [own]), ...(this.#byRow.get(row) ?? [])])
      this.#follow(id, found);
    const all = this.#kept([...found]);
    const real = all.filter((one) => !isVoid(one));
    if (real.length > 0) return real;
    const last = all.find(({ id }) => id === own) ?? all.at(-1);
    return last === undefined ? [] : [last];
  }

  /** Returns the envelope that replaced this one, or undefined if it wasn't replaced or only a draft exists. */
  replacementOf(id: string): KeptEnvelope | undefined {
    const sent = this.#kept(this.#replacements.get(id) ?? []).filter(
      (one) => one.status !== 'DRAFT' && !isVoid(one),
    );
    return sent.toSorted(byPrecedence)[0];
  }

  #follow(id: string, found: Set<string>): void {
    if (found.has(id)) return;
    found.add(id);
    for (const next of this.#replacements.get(id) ?? []) this.#follow(next, found);
  }

  #kept(ids: readonly string[]): KeptEnvelope[] {
    return ids.flatMap((id) => this.#byId.get(id) ?? []);
  }
}

function push<K>(map: Map<K, string[]>, key: K, id: string): void {
  map.set(key, [...new Set([...(map.get(key) ?? []), id])]);
}
