import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/request-defaults.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { readIfExists } from '../../catalog/envelope-list.ts';
import { replacedBy, rowOf, runOf } from '../../catalog/markers.ts';
import { isVoid } from '../../kernel/statuses.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { byPrecedence } from '../../once/precedence.ts';
import type { RunFiles } from '../../runs/run-files.ts';
import type { RunState } from '../../runs/run-state.ts';
import { requireSameOrganization } from '../remembered-rows.ts';

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

/** The part of an envelope that is kept in memory, since a run may have ten thousand. */
export type KeptEnvelope = Pick<
  Envelope,
  'id' | 'status' | 'signingOrder' | 'sentAt' | 'createdAt' | 'signers' | 'metadata'
>;

/** The envelopes of a run by row, and their replacements. */
export class RunEnvelopes {
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
