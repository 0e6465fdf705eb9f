import { fromBER, GeneralizedTime, Integer, ObjectIdentifier, OctetString, UTCTime } from 'asn1js';

/** What can't be read or is of a kind that is not believed; the message names it. */
export class UnreadableSignatureError extends Error {
  override readonly name = 'UnreadableSignatureError';
}

type Block = ReturnType<typeof fromBER>['result'];

/** An element of ASN.1, with the very bytes it came in: what is signed are bytes, not meanings. */
export class Element {
  readonly #block: Block;

  constructor(block: Block) {
    this.#block = block;
  }

  /** Reads one element from the beginning of the bytes. @throws UnreadableSignatureError. */
  static read(bytes: Buffer): Element {
    if (!isExact(bytes)) throw unreadable('its CMS can’t be read');
    let block: Block | undefined;
    try {
      const { offset, result } = fromBER(bytes);
      if (offset > 0) block = result;
    } catch {
      // Hostile bytes make the reader throw errors of any kind; each means the same.
    }
    if (block === undefined || block.error !== '') throw unreadable('its CMS can’t be read');
    return new Element(block);
  }

  /** Tag, length and value as they came. */
  get raw(): Buffer {
    const view = this.#block.valueBeforeDecodeView;
    return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  }

  /** The elements inside; none in a primitive one. */
  get parts(): Element[] {
    const value: unknown = 'value' in this.#block.valueBlock ? this.#block.valueBlock.value : undefined;
    return Array.isArray(value) ? value.filter(isBlock).map((block) => new Element(block)) : [];
  }

  /** The number of a context-specific tag such as [0]; undefined for a universal one. */
  get context(): number | undefined {
    const { tagClass, tagNumber } = this.#block.idBlock;
    return tagClass === CONTEXT_SPECIFIC ? tagNumber : undefined;
  }

  get oid(): string {
    if (!(this.#block instanceof ObjectIdentifier))
      throw unreadable('its CMS has no object identifier where one must be');
    return this.#block.getValue();
  }

  get octets(): Buffer {
    if (!(this.#block instanceof OctetString)) throw unreadable('its CMS has no bytes where some must be');
    return Buffer.from(this.#block.getValue());
  }

  get integer(): number {
    if (!(this.#block instanceof Integer)) throw unreadable('its CMS has no number where one must be');
    return this.#block.valueBlock.valueDec;
  }

  /** ISO 8601; undefined when it is no time. */
  get time(): string | undefined {
    if (!(this.#block instanceof UTCTime) && !(this.#block instanceof GeneralizedTime)) return undefined;
    const date = this.#block.toDate();
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  }

  /** The part at that place. @throws UnreadableSignatureError when there is none. */
  part(index: number): Element {
    const found = this.parts[index];
    if (found === undefined) throw unreadable('its CMS is not complete');
    return found;
  }
}

const CONTEXT_SPECIFIC = 3;
const MAX_DEPTH = 40;

/** The library reads on where lengths contradict each other; a signature is only believed where all of them agree. */
function isExact(bytes: Buffer): boolean {
  const outer = extentOf(bytes, 0, bytes.length);
  return outer !== undefined && isFilled(bytes, outer, 0);
}

interface Extent {
  isConstructed: boolean;
  from: number;
  /** Behind the value. */
  to: number;
}

/** Where a value stands, by its tag and length; undefined when it does not end before `end`. */
function extentOf(bytes: Buffer, at: number, end: number): Extent | undefined {
  const [tag, length] = [bytes[at], bytes[at + 1]];
  // Zero is the end of a value of indefinite length, which is no DER, or padding.
  if (!tag || length === undefined || at + 2 > end || (tag & 0x1f) === 0x1f) return undefined;
  const isConstructed = (tag & 0x20) !== 0;
  const figures = length < 0x80 ? 0 : length & 0x7f;
  if (length === 0x80 || figures > 4 || at + 2 + figures > end) return undefined;
  const from = at + 2 + figures;
  const to = from + (figures === 0 ? length : bytes.readUIntBE(at + 2, figures));
  return to > end ? undefined : { isConstructed, from, to };
}

/** Whether the values inside a constructed one fill it to the last byte. */
function isFilled(bytes: Buffer, { isConstructed, from, to }: Extent, depth: number): boolean {
  if (!isConstructed) return true;
  if (depth > MAX_DEPTH) return false;
  for (let at = from; at < to; ) {
    const inner = extentOf(bytes, at, to);
    if (inner === undefined || !isFilled(bytes, inner, depth + 1)) return false;
    at = inner.to;
  }
  return true;
}

function isBlock(value: unknown): value is Block {
  return (
    typeof value === 'object' && value !== null && 'valueBeforeDecodeView' in value && 'idBlock' in value
  );
}

export function unreadable(what: string): UnreadableSignatureError {
  return new UnreadableSignatureError(what);
}
