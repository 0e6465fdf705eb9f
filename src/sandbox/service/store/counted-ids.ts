import type { RandomId } from './keys.ts';
import type { StoreState } from './state.ts';

/**
 * IDs numbered per kind: `env_1`, `env_2`, `signer_1`. Numbers that are already in the state, such as seeded ones, are skipped. Keys stay
 * random.
 */
export class CountedIds {
  readonly #state: StoreState;
  readonly #random: RandomId;
  readonly #latest = new Map<string, number>();
  readonly #named = new Map<string, string>();

  constructor(state: StoreState, random: RandomId) {
    this.#state = state;
    this.#random = random;
  }

  readonly next: RandomId = (bytes, kind) => {
    if (kind === undefined) return this.#random(bytes);
    let number = (this.#latest.get(kind) ?? this.#highest(kind)) + 1;
    while (this.#isTaken(`${kind}_${number}`)) number += 1;
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
    this.#latest.clear();
    this.#named.clear();
  }

  #isTaken(id: string): boolean {
    const { envelopes, templates } = this.#state;
    return envelopes.has(id) || templates.has(id);
  }

  /** Returns the highest number of a kind in the state. */
  #highest(kind: string): number {
    const form = new RegExp(`\\b${kind}_(\\d{1,15})\\b`);
    let highest = 0;
    for (const text of this.#idsOf(kind)) highest = Math.max(highest, Number(form.exec(text)?.[1] ?? 0));
    return highest;
  }

  #idsOf(kind: string): Iterable<string> {
    const { envelopes, templates, mails, deliveries, keys, audit } = this.#state;
    const signers = () => [...envelopes.values()].flatMap((envelope) => envelope.signers);
    const byKind: Readonly<Record<string, () => Iterable<string>>> = {
      tmpl: () => templates.keys(),
      mail: () => mails.keys(),
      dlv: () => deliveries.keys(),
      key: () => keys.keys(),
      aud: () => audit.keys(),
      signer: () => signers().map(({ id }) => id),
      link: () => signers().map(({ token }) => `link_${token}`),
      // The ID of an event is only in its payload.
      evt: () => [...deliveries.values()].map(({ body }) => body.slice(0, 100)),
    };
    return byKind[kind]?.() ?? [];
  }
}
