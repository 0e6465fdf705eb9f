import type { Envelope } from '../../api/schemas.ts';
import { markerOf } from '../../envelopes/markers.ts';
import { byPrecedence, replacedBy } from '../../envelopes/replace/find.ts';
import { isVoid, ROW_KEY, RUN_KEY } from '../../kernel/vocabulary.ts';

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
  /** Envelopes of the run whose metadata names no row. */
  readonly #withoutRow: string[] = [];

  constructor(runId: string) {
    this.#runId = runId;
  }

  add({ id, status, signingOrder, sentAt, createdAt, signers, metadata }: Envelope): void {
    const kept = { id, status, signingOrder, sentAt, createdAt, signers, metadata };
    this.#byId.set(id, kept);
    const old = replacedBy(kept);
    if (markerOf(kept, RUN_KEY) === this.#runId) {
      const row = Number(markerOf(kept, ROW_KEY));
      if (Number.isInteger(row)) push(this.#byRow, row, id);
      else this.#withoutRow.push(id);
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
    return this.#real([...found], own);
  }

  withoutRow(): KeptEnvelope[] {
    return this.#real(this.#withoutRow, undefined);
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

  #real(ids: readonly string[], own: string | undefined): KeptEnvelope[] {
    const all = this.#kept(ids);
    const real = all.filter((one) => !isVoid(one));
    if (real.length > 0) return real;
    const last = all.find(({ id }) => id === own) ?? all.at(-1);
    return last === undefined ? [] : [last];
  }

  #kept(ids: readonly string[]): KeptEnvelope[] {
    return ids.flatMap((id) => this.#byId.get(id) ?? []);
  }
}

function push<K>(map: Map<K, string[]>, key: K, id: string): void {
  const ids = map.get(key);
  if (ids === undefined) map.set(key, [id]);
  else if (!ids.includes(id)) ids.push(id);
}
