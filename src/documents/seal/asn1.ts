import { fromBER, GeneralizedTime, Integer, ObjectIdentifier, OctetString, UTCTime } from 'asn1js';

/** The error for a signature that can't be read or isn't supported. The message is the reason. */
export class UnreadableSignatureError extends Error {
  override readonly name = 'UnreadableSignatureError';
}

type Block = ReturnType<typeof fromBER>['result'];

/** An ASN.1 element with its exact bytes, because signatures cover bytes. */
export class Element {
  readonly #block: Block;

  constructor(block: Block) {
    this.#block = block;
  }

  /** Reads the element at the start of the bytes. @throws UnreadableSignatureError. */
  static read(bytes: Buffer): Element {
    return Element.readFirst(bytes).element;
  }

  /** Reads the element at the start of the bytes, and returns its length in bytes as well. Its values are taken off `left`. */
  static readFirst(bytes: Buffer, left = createValueBudget()): { element: Element; length: number } {
    const found = withDefiniteLengths(bytes, 0, bytes.length, { depth: 0, left });
    if (found === undefined) throw unreadableError("its CMS structure can't be read");
    let block: Block | undefined;
    try {
      const { offset, result } = fromBER(found.der, { maxNodes: MAX_VALUES });
      if (offset > 0) block = result;
    } catch {
      // Malicious bytes can make the reader throw any error; all of them mean that the bytes are unreadable.
    }
    if (block === undefined || block.error !== '') throw unreadableError("its CMS structure can't be read");
    return { element: new Element(block), length: found.to };
  }

  /** The tag, length, and value as they were read. */
  get raw(): Buffer {
    const view = this.#block.valueBeforeDecodeView;
    return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  }

  /** The elements inside; empty for a primitive element. */
  get parts(): Element[] {
    const value: unknown = 'value' in this.#block.valueBlock ? this.#block.valueBlock.value : undefined;
    return Array.isArray(value) ? value.filter(isBlock).map((block) => new Element(block)) : [];
  }

  get isSequence(): boolean {
    return this.raw[0] === TAGS.sequence;
  }

  /** Returns this element if it has the expected tag. @throws UnreadableSignatureError. */
  as(kind: keyof typeof TAGS): Element {
    if (this.raw[0] !== TAGS[kind]) throw unreadableError('its CMS structure is not as expected');
    return this;
  }

  /** The number of a context-specific tag such as [0]; undefined for a universal one. */
  get context(): number | undefined {
    const { tagClass, tagNumber } = this.#block.idBlock;
    return tagClass === CONTEXT_SPECIFIC ? tagNumber : undefined;
  }

  get oid(): string {
    if (!(this.#block instanceof ObjectIdentifier))
      throw unreadableError('its CMS structure lacks a required object identifier');
    return this.#block.getValue();
  }

  get octets(): Buffer {
    if (!(this.#block instanceof OctetString))
      throw unreadableError('its CMS structure lacks required bytes');
    return Buffer.from(this.#block.getValue());
  }

  get integer(): number {
    if (!(this.#block instanceof Integer)) throw unreadableError('its CMS structure lacks a required number');
    return this.#block.valueBlock.valueDec;
  }

  /** The time, ISO 8601; undefined if the element isn't a time. */
  get time(): string | undefined {
    if (!(this.#block instanceof UTCTime) && !(this.#block instanceof GeneralizedTime)) return undefined;
    const date = this.#block.toDate();
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  }

  /** Returns the part at an index. @throws UnreadableSignatureError if it doesn't exist */
  part(index: number): Element {
    const found = this.parts[index];
    if (found === undefined) throw unreadableError('its CMS structure is incomplete');
    return found;
  }
}

const CONTEXT_SPECIFIC = 3;
const TAGS = { sequence: 0x30, set: 0x31, null: 0x05 } as const;
const MAX_DEPTH = 40;
/** The maximum number of values. A revocation list inside a signature can have thousands of entries. */
const MAX_VALUES = 100_000;
const CONSTRUCTED = 0x20;
const INDEFINITE = 0x80;

/** The number of values that may still be read. Reading the most takes almost a second. */
export interface ValueBudget {
  values: number;
}

export function createValueBudget(): ValueBudget {
  return { values: MAX_VALUES };
}

interface Bounds {
  depth: number;
  left: ValueBudget;
}

interface Definite {
  /** The value with its tag and a definite length. */
  der: Buffer;
  /** The offset after the value in the original bytes. */
  to: number;
}

/**
 * Returns a value with definite lengths only. Some programs (NSS) write values whose end is marked by two zeros instead. A value that
 * already has a length is kept byte for byte, because it may be signed. Returns undefined if lengths contradict each other: the library
 * would ignore that, but a signature is accepted only if all lengths agree.
 */
function withDefiniteLengths(bytes: Buffer, at: number, end: number, bounds: Bounds): Definite | undefined {
  const head = headOf(bytes, at, end);
  const { depth, left } = bounds;
  if (head === undefined || depth > MAX_DEPTH || --left.values < 0) return undefined;
  const { tag, from, to } = head;
  if ((tag & CONSTRUCTED) === 0) return to === undefined ? undefined : { der: bytes.subarray(at, to), to };
  const parts: Buffer[] = [];
  let place = from;
  while (to === undefined ? !isEnd(bytes, place, end) : place < to) {
    const inner = withDefiniteLengths(bytes, place, to ?? end, { depth: depth + 1, left });
    if (inner === undefined) return undefined;
    parts.push(inner.der);
    place = inner.to;
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (to !== undefined && length === to - from) return { der: bytes.subarray(at, to), to };
  const der = Buffer.concat([Buffer.from([tag, ...lengthOf(length)]), ...parts]);
  return { der, to: to ?? place + 2 };
}

/** The tag and position of a value; `to` is undefined for an indefinite length. */
interface Head {
  tag: number;
  from: number;
  to: number | undefined;
}

/** Reads the tag and length. Returns undefined if the value extends beyond `end`. */
function headOf(bytes: Buffer, at: number, end: number): Head | undefined {
  const [tag, length] = [bytes[at], bytes[at + 1]];
  // A zero tag is the end of a value of indefinite length, or padding.
  if (!tag || length === undefined || at + 2 > end || (tag & 0x1f) === 0x1f) return undefined;
  if (length === INDEFINITE) return { tag, from: at + 2, to: undefined };
  const figures = length < 0x80 ? 0 : length & 0x7f;
  if (figures > 4 || at + 2 + figures > end) return undefined;
  const from = at + 2 + figures;
  const to = from + (figures === 0 ? length : bytes.readUIntBE(at + 2, figures));
  return to > end ? undefined : { tag, from, to };
}

function isEnd(bytes: Buffer, at: number, end: number): boolean {
  return at + 2 <= end && bytes[at] === 0 && bytes[at + 1] === 0;
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const figures = [24, 16, 8, 0].map((shift) => (length >>> shift) & 0xff);
  const first = figures.findIndex((figure) => figure !== 0);
  return [0x80 | (4 - first), ...figures.slice(first)];
}

function isBlock(value: unknown): value is Block {
  return (
    typeof value === 'object' && value !== null && 'valueBeforeDecodeView' in value && 'idBlock' in value
  );
}

export function unreadableError(what: string): UnreadableSignatureError {
  return new UnreadableSignatureError(what);
}
