import type { Envelope } from '../api/schemas.ts';
import { REPLACES_KEY, RUN_KEY } from '../kernel/vocabulary.ts';
import { markerOf } from './markers.ts';

/** A bulk run whose envelopes are selected. */
export interface SelectedRun {
  id: string;
  /** Its envelopes, from its journal on this machine; undefined where it has no journal. */
  envelopeIds: ReadonlySet<string> | undefined;
}

/** True for an envelope of the run itself; one that replaces such an envelope needs RunMembers. */
export function isOfRun({ id: runId, envelopeIds }: SelectedRun, { id, metadata }: Envelope): boolean {
  return envelopeIds?.has(id) === true || markerOf({ metadata }, RUN_KEY) === runId;
}

/**
 * Finds the envelopes of a run among all envelopes: those of its journal, those that carry its marker, and those that replace
 * one of them, which carry no marker of the run. Complete once every envelope was added.
 */
export class RunMembers {
  readonly #run: SelectedRun;
  readonly #ids: Set<string>;
  readonly #replaced = new Map<string, string>();
  /** Items of a list without metadata, and when they were created (ms). */
  readonly #undecided = new Map<string, number>();
  #earliest = Number.POSITIVE_INFINITY;

  constructor(run: SelectedRun) {
    this.#run = run;
    this.#ids = new Set(run.envelopeIds);
  }

  /** `created` in ms; NaN where it isn't known. Metadata is undefined where the list leaves it out, but it never changes. */
  add(id: string, created: number, metadata: Envelope['metadata']): void {
    if (metadata === undefined) this.#undecided.set(id, created);
    else {
      this.#undecided.delete(id);
      const replaces = markerOf({ metadata }, REPLACES_KEY);
      if (markerOf({ metadata }, RUN_KEY) === this.#run.id) this.#ids.add(id);
      else if (typeof replaces === 'string') this.#replaced.set(id, replaces);
    }
    if (this.#ids.has(id) && created < this.#earliest) this.#earliest = created;
  }

  has(id: string): boolean {
    const seen = new Set<string>();
    for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = this.#replaced.get(at)) {
      if (this.#ids.has(at)) return true;
      seen.add(at);
    }
    return false;
  }

  /** False for an envelope that can't turn out to belong to the run, whatever is added later. */
  mayInclude(id: string): boolean {
    return this.#ids.has(id) || this.#replaced.has(id) || this.#undecided.has(id);
  }

  /**
   * True where only a GET can show whether the envelope belongs to the run. With a journal, only a replacement is missing from
   * it, and that is newer than the first envelope of the run.
   */
  isUndecided(id: string): boolean {
    const created = this.#undecided.get(id);
    if (created === undefined || this.#ids.has(id)) return false;
    return this.#run.envelopeIds === undefined || !(created < this.#earliest);
  }
}
