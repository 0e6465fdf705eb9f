/** A file that can't be read as PDF, or only with more memory or work than it is allowed. */
export class UnreadablePdfError extends Error {
  override readonly name = 'UnreadablePdfError';
}

export class PdfName {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A reference to an indirect object. */
export class PdfRef {
  readonly number: number;
  readonly generation: number;
  constructor(number: number, generation: number) {
    this.number = number;
    this.generation = generation;
  }
}

/** A string, and where its token begins and ends in the file. */
export class PdfString {
  readonly bytes: Buffer;
  readonly isHex: boolean;
  readonly start: number;
  readonly end: number;
  constructor(bytes: Buffer, place: { isHex: boolean; start: number; end: number }) {
    this.bytes = bytes;
    this.isHex = place.isHex;
    this.start = place.start;
    this.end = place.end;
  }
}

/** Most dictionaries repeat nothing, and a file may bring very many of them. */
const NONE: ReadonlySet<string> = new Set();

export class PdfDict {
  readonly entries = new Map<string, PdfValue>();
  #repeated: Set<string> | undefined;

  /** Repeated names: readers differ in which one they use. */
  get repeated(): ReadonlySet<string> {
    return this.#repeated ?? NONE;
  }

  add(name: string, value: PdfValue): void {
    if (this.entries.has(name)) {
      this.#repeated ??= new Set();
      this.#repeated.add(name);
    }
    this.entries.set(name, value);
  }

  get(name: string): PdfValue {
    return this.entries.get(name) ?? null;
  }
}

/** A stream: its dictionary, and where its data begin in the file. */
export class PdfStream {
  readonly dict: PdfDict;
  readonly start: number;
  constructor(dict: PdfDict, start: number) {
    this.dict = dict;
    this.start = start;
  }
}

export type PdfValue =
  | null
  | boolean
  | number
  | PdfName
  | PdfRef
  | PdfString
  | PdfValue[]
  | PdfDict
  | PdfStream;

export function nameOf(value: PdfValue): string | undefined {
  return value instanceof PdfName ? value.name : undefined;
}

/** A whole number that is not negative; undefined for anything else. */
export function countOf(value: PdfValue): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** True when two values are written alike: references by their numbers, strings by their bytes. */
export function isSame(one: PdfValue, other: PdfValue): boolean {
  if (one instanceof PdfName) return other instanceof PdfName && one.name === other.name;
  if (one instanceof PdfString) return other instanceof PdfString && one.bytes.equals(other.bytes);
  if (one instanceof PdfRef)
    return other instanceof PdfRef && one.number === other.number && one.generation === other.generation;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, index) => isSame(value, other[index] ?? null))
    );
  if (one instanceof PdfDict) return other instanceof PdfDict && isSameDict(one, other, []);
  return !(one instanceof PdfStream) && one === other;
}

/** The same for dictionaries, apart from the entries named. */
export function isSameDict(one: PdfDict, other: PdfDict, apartFrom: readonly string[]): boolean {
  if (one.repeated.size + other.repeated.size > 0) return false;
  const names = new Set([...one.entries.keys(), ...other.entries.keys()]);
  return [...names].every((name) => apartFrom.includes(name) || isSame(one.get(name), other.get(name)));
}
