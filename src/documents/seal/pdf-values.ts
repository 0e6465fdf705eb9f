/** The error for a file that can't be read as a PDF within the limits for memory and work. */
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

/** A string, and the start and end of its token in the file. */
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

/** A shared empty set, because most dictionaries repeat no names and a file may have very many dictionaries. */
const NONE: ReadonlySet<string> = new Set();

export class PdfDict {
  readonly entries = new Map<string, PdfValue>();
  #repeated: Set<string> | undefined;

  /** The repeated names. Readers differ in which entry they use. */
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

/** A stream: its dictionary, and the offset of its data in the file. */
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

/** Returns a non-negative integer, or undefined for any other value. */
export function countOf(value: PdfValue): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Returns true if two values are the same; references are compared by number, strings by bytes. */
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

/** Returns true if two dictionaries are the same except for the named entries. */
export function isSameDict(one: PdfDict, other: PdfDict, apartFrom: readonly string[]): boolean {
  if (one.repeated.size + other.repeated.size > 0) return false;
  const names = new Set([...one.entries.keys(), ...other.entries.keys()]);
  return [...names].every((name) => apartFrom.includes(name) || isSame(one.get(name), other.get(name)));
}
