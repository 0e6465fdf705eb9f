/** An observation in responses of an operation, with the number of responses since the last write. */
export interface Fact {
  place: string;
  form: string;
  operation: string;
  times: number;
  /** When it was first seen, in ms. */
  since: number;
  /** The number of the response in which it was last counted. Each response counts only once. */
  responseNumber: number;
}

/** More facts than a service that follows the document can produce. */
const MAX_FACTS = 2_000;

/** The observations since the last write. */
export class FactTally {
  readonly #facts = new Map<string, Fact>();
  readonly #now: () => number;
  /** The number of the current response. */
  responseNumber = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the fact with this name, or undefined if there are too many facts. */
  fact(place: string, form: string, operation: string): Fact | undefined {
    const name = `${place} ${form} ${operation}`;
    const known = this.#facts.get(name);
    if (known !== undefined || this.#facts.size >= MAX_FACTS) return known;
    const fact = { place, form, operation, times: 0, since: this.#now(), responseNumber: 0 };
    this.#facts.set(name, fact);
    return fact;
  }

  count(fact: Fact | undefined): void {
    if (fact === undefined || fact.responseNumber === this.responseNumber) return;
    fact.responseNumber = this.responseNumber;
    fact.times += 1;
  }

  note(place: string, form: string, operation: string): void {
    this.count(this.fact(place, form, operation));
  }

  /** Returns the facts counted since the last call. */
  take(): Fact[] {
    const counted = [...this.#facts.values()].filter(({ times }) => times > 0);
    return counted.map((fact) => {
      const copy = { ...fact };
      fact.times = 0;
      return copy;
    });
  }
}
