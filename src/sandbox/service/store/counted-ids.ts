import type { RandomId } from './keys.ts';
import type { StoreState } from './state.ts';

/** A numbered ID, or the number in a signing link. */
const COUNTED = /\b([a-z]+)_(\d{1,15})\b|"token":"(\d{1,15})"/g;

/**
 * IDs numbered per kind: `env_1`, `env_2`, `signer_1`. Numbers that are already in the state, such as seeded ones, are skipped. Keys stay
 * random.
 */
export class CountedIds {
  readonly #state: StoreState;
  readonly #random: RandomId;
  /** The latest number of each kind; undefined until the state was searched. */
  #latest: Map<string, number> | undefined;
  readonly #named = new Map<string, string>();

  constructor(state: StoreState, random: RandomId) {
    this.#state = state;
    this.#random = random;
  }

  readonly next: RandomId = (bytes, kind) => {
    if (kind === undefined) return this.#random(bytes);
    this.#latest ??= latestIn(this.#state);
    let number = (this.#latest.get(kind) ?? 0) + 1;
    // A seed may contain an envelope with that ID.
    while (this.#state.envelopes.has(`${kind}_${number}`)) number += 1;
    this.#latest.set(kind, number);
    return String(number);
  };

  /** Returns the next number of the kind, and the same number for the same name. */
  named(name: string, kind: string): string {
    const number = this.#named.get(name) ?? this.next(0, kind);
    this.#named.set(name, number);
    return number;
  }

  /** Restarts counting from the IDs in the state, after it was replaced. */
  restart(): void {
    this.#latest = undefined;
    this.#named.clear();
  }
}

/** Returns the highest number of each kind in the state. */
function latestIn(state: StoreState): Map<string, number> {
  const latest = new Map<string, number>();
  for (const change of state.changes())
    for (const [, kind = 'link', id, token] of JSON.stringify(change).matchAll(COUNTED))
      latest.set(kind, Math.max(latest.get(kind) ?? 0, Number(id ?? token)));
  return latest;
}
