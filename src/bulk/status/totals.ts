import type { SignerLine } from './signer-lines.ts';
import { rowStateOf, type SignerState } from './signer-states.ts';

/** Counts the rows of a run by state. */
export class Totals {
  readonly #rows = new Map<number, SignerState[]>();

  /** Adds a signer of a row. */
  add({ row, state }: Pick<SignerLine, 'row' | 'state'>): void {
    this.#rows.set(row, [...(this.#rows.get(row) ?? []), state]);
  }

  /** Returns the number of rows in each state, and of corrected ones. A corrected row has the state of its last envelope. */
  rows(): { states: ReadonlyMap<SignerState, number>; corrected: number } {
    const counts = new Map<SignerState, number>();
    let corrected = 0;
    for (const states of this.#rows.values()) {
      const current = states.filter((state) => state !== 'replaced');
      if (current.length > 0 && current.length < states.length) corrected++;
      const state = rowStateOf(current.length > 0 ? current : states);
      if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return { states: counts, corrected };
  }
}
