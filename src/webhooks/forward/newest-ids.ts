/** Collects IDs in no particular order and keeps the newest ones. It holds at most twice as many as it keeps. */
export class NewestIds {
  readonly #max: number;
  /** The time of each ID, in ISO 8601. */
  #times = new Map<string, string>();

  constructor(max: number) {
    this.#max = max;
  }

  add(id: string, time: string): void {
    const known = this.#times.get(id);
    if (known === undefined || known < time) this.#times.set(id, time);
    if (this.#times.size >= 2 * this.#max) this.#trim();
  }

  oldestFirst(): string[] {
    this.#trim();
    return [...this.#times.keys()];
  }

  #trim(): void {
    const byTime = [...this.#times].sort(([, a], [, b]) => (a === b ? 0 : a < b ? -1 : 1));
    this.#times = new Map(byTime.slice(-this.#max));
  }
}
