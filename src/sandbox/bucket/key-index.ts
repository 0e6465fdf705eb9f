import type { StoredObjectFacts } from './object-file.ts';

/** The objects of a bucket in S3's listing order: by the UTF-8 bytes of the keys. */
export class KeyIndex {
  readonly #facts: Map<string, StoredObjectFacts>;
  readonly #keys: string[];

  constructor(objects: Iterable<StoredObjectFacts>) {
    this.#facts = new Map([...objects].map((one) => [one.key, one]));
    this.#keys = [...this.#facts.keys()].sort(compareKeys);
  }

  get(key: string): StoredObjectFacts | undefined {
    return this.#facts.get(key);
  }

  set(facts: StoredObjectFacts): void {
    if (!this.#facts.has(facts.key)) this.#keys.splice(this.#firstAtOrAfter(facts.key), 0, facts.key);
    this.#facts.set(facts.key, facts);
  }

  delete(key: string): void {
    if (this.#facts.delete(key)) this.#keys.splice(this.#firstAtOrAfter(key), 1);
  }

  /** Yields the objects in order, starting at `key` or the first key after it. */
  *from(key: string): Generator<StoredObjectFacts> {
    for (let at = this.#firstAtOrAfter(key); at < this.#keys.length; at++) {
      const facts = this.#facts.get(this.#keys[at] ?? '');
      if (facts !== undefined) yield facts;
    }
  }

  #firstAtOrAfter(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] ?? '', key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Compares two keys by their UTF-8 bytes, without encoding them. */
export function compareKeys(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 code unit in UTF-8 order, in which characters encoded as surrogates come last. */
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
