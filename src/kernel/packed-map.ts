import { parseJson } from './json.ts';

/**
 * Values by number (small whole numbers, most of which are used), kept as JSON, which takes a third of the memory of small objects: a
 * list may have a hundred thousand rows. A value may only contain what JSON keeps.
 */
export class PackedMap<T> {
  readonly #texts: (string | undefined)[] = [];
  #size = 0;
  readonly #isValue: (value: unknown) => value is T;

  /** `isValue` recognizes a value that was read from JSON. */
  constructor(isValue: (value: unknown) => value is T) {
    this.#isValue = isValue;
  }

  get size(): number {
    return this.#size;
  }

  set(number: number, value: T): void {
    if (this.#texts[number] === undefined) this.#size++;
    // A copy in one piece. V8 makes the text of many small ones, which take twice as much memory.
    this.#texts[number] = Buffer.from(JSON.stringify(value)).toString();
  }

  get(number: number): T | undefined {
    const text = this.#texts[number];
    return text === undefined ? undefined : this.#parse(text);
  }

  *entries(): Generator<[number, T], void, undefined> {
    for (const [number, text] of this.#texts.entries()) {
      const value = text === undefined ? undefined : this.#parse(text);
      if (value !== undefined) yield [number, value];
    }
  }

  #parse(text: string): T | undefined {
    const value = parseJson(text);
    return this.#isValue(value) ? value : undefined;
  }
}
