import type { Envelope } from '../api/resource-types.ts';
import { REPLACES_KEY } from '../kernel/vocabulary.ts';
import { markerOf, runOf } from './markers.ts';

/** A bulk run whose envelopes are selected. */
export interface SelectedRun {
  id: string;
  /** Its envelopes, from its journal on this machine or a search; undefined if they are known by their metadata only. */
  envelopeIds: ReadonlySet<string> | undefined;
}

/**
 * Finds the envelopes of a run among all envelopes: those of its journal, those with its marker, and those that replace one of
 * them, which don't have the marker. It is complete once every envelope was added.
 */
export class RunMembers {
  readonly #run: SelectedRun;
  readonly #ids: Set<string>;
  readonly #replaced = new Map<string, string>();
  /** List items without metadata, and when they were created (ms). */
  readonly #undecided = new Map<string, number>();
  #earliest = Number.POSITIVE_INFINITY;

  constructor(run: SelectedRun) {
    this.#run = run;
    this.#ids = new Set(run.envelopeIds);
  }

  /** `created` is in ms, NaN if unknown. `metadata` is undefined if the list leaves it out. It never changes. */
  add(id: string, created: number, metadata: Envelope['metadata']): void {
    if (metadata === undefined) this.#undecided.set(id, created);
    else {
      this.#undecided.delete(id);
      const replaces = markerOf({ metadata }, REPLACES_KEY);
      if (runOf({ metadata }) === this.#run.id) this.#ids.add(id);
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

  /** Returns false for an envelope that can't belong to the run, no matter what is added later. */
  mayInclude(id: string): boolean {
    return this.#ids.has(id) || this.#replaced.has(id) || this.#undecided.has(id);
  }

  /**
   * Returns true if only a GET can show whether the envelope belongs to the run. A journal lacks only replacements, which are
   * newer than the first envelope of the run.
   */
  isUndecided(id: string): boolean {
    const created = this.#undecided.get(id);
    if (created === undefined || this.#ids.has(id)) return false;
    return this.#run.envelopeIds === undefined || !(created < this.#earliest);
  }
}
