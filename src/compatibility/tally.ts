/** One thing seen in replies of one operation, and in how many since it was last written down. */
export interface Fact {
  place: string;
  form: string;
  operation: string;
  times: number;
  /** When it was seen first, in ms. */
  since: number;
  /** The number of the reply it was last counted in: each reply counts once. */
  reply: number;
}

/** More facts than a service that keeps to the document can give. */
const MAX_FACTS = 2_000;

/** What was seen since it was last written down. */
export class FactTally {
  readonly #facts = new Map<string, Fact>();
  readonly #now: () => number;
  /** The number of the reply being read. */
  reply = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The fact of that name; undefined when there are too many already. */
  fact(place: string, form: string, operation: string): Fact | undefined {
    const name = `${place} ${form} ${operation}`;
    const known = this.#facts.get(name);
    if (known !== undefined || this.#facts.size >= MAX_FACTS) return known;
    const fact = { place, form, operation, times: 0, since: this.#now(), reply: 0 };
    this.#facts.set(name, fact);
    return fact;
  }

  count(fact: Fact | undefined): void {
    if (fact === undefined || fact.reply === this.reply) return;
    fact.reply = this.reply;
    fact.times += 1;
  }

  note(place: string, form: string, operation: string): void {
    this.count(this.fact(place, form, operation));
  }

  /** The facts counted since the last call. */
  take(): Fact[] {
    const counted = [...this.#facts.values()].filter(({ times }) => times > 0);
    return counted.map((fact) => {
      const copy = { ...fact };
      fact.times = 0;
      return copy;
    });
  }
}
