import {
  PdfDict,
  PdfName,
  PdfRef,
  PdfStream,
  PdfString,
  type PdfValue,
  UnreadablePdfError,
} from './pdf-values.ts';

/** The maximum nesting depth of values. Real files stay far below it. */
const MAX_DEPTH = 60;
const MAX_VALUES = 500_000;

/** The error for bytes that end inside a value. Reading more bytes may help. */
export class TruncatedError extends Error {
  override readonly name = 'TruncatedError';
}

const WHITESPACE = new Set([0, 9, 10, 12, 13, 32]);
const COMMENT = 37;
/** A comment, NUL, and form feed. */
const RARE = new Set([COMMENT, 0, 12]);
const DELIMITERS = new Set([...'()<>[]{}/%'].map((character) => character.charCodeAt(0)));
const ESCAPES = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['b', 8],
  ['f', 12],
]);
const PLAIN = /^(0|[1-9]\d*)$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)$/;

interface ParserOptions {
  /** The offset of the bytes in the file. */
  offset?: number;
  /** The index in the bytes at which to start. */
  at?: number;
  /** Rejects syntax that readers interpret differently: comments, invalid names, repeated keys, and rare white space. */
  isStrict?: boolean;
}

/**
 * A parser of PDF values (ISO 32000-1, 7.3).
 * @throws UnreadablePdfError for anything that isn't a value, TruncatedError if the bytes end inside one.
 */
export class PdfParser {
  readonly #bytes: Buffer;
  readonly #offset: number;
  readonly #isStrict: boolean;
  #at: number;
  #values = 0;
  /** True if every number read was a plain integer: no sign, fraction, or leading zero. */
  hasPlainNumbers = true;

  constructor(bytes: Buffer, { offset = 0, at = 0, isStrict = false }: ParserOptions = {}) {
    this.#bytes = bytes;
    this.#offset = offset;
    this.#at = at;
    this.#isStrict = isStrict;
  }

  /** The offset of the next byte in the file. */
  get position(): number {
    return this.#offset + this.#at;
  }

  /** Reads an indirect object, `5 0 obj …`, including the position of its stream if it has one. */
  object(): { number: number; generation: number; value: PdfValue } {
    const [number, generation] = [this.#integer(), this.#integer()];
    if (this.word() !== 'obj') throw invalidSyntax('an object has no header');
    const value = this.value();
    this.#skip();
    if (!(value instanceof PdfDict) || !this.#isNext('stream')) return { number, generation, value };
    this.#at += 'stream'.length;
    if (this.#peek() === 13) this.#at++;
    if (this.#peek() === 10) this.#at++;
    return { number, generation, value: new PdfStream(value, this.position) };
  }

  /** Reads any value. Two numbers followed by `R` are a reference. */
  value(depth = 0): PdfValue {
    if (depth > MAX_DEPTH) throw invalidSyntax('its values are nested too deeply');
    if (++this.#values > MAX_VALUES) throw invalidSyntax('an object has too many values');
    this.#skip();
    const byte = this.#peek();
    if (byte === 47) return this.#name();
    if (byte === 40) return this.#literal();
    if (byte === 91) return this.#array(depth);
    if (byte === 60) return this.#peek(1) === 60 ? this.#dict(depth) : this.#hex();
    return this.#simple();
  }

  #simple(): PdfValue {
    const word = this.word();
    if (word === 'null') return null;
    if (word === 'true' || word === 'false') return word === 'true';
    if (!NUMBER.test(word)) throw invalidSyntax(`${JSON.stringify(word.slice(0, 20))} is not a value`);
    if (!PLAIN.test(word)) this.hasPlainNumbers = false;
    return /^\d+$/.test(word) ? this.#numberOrReference(Number(word)) : Number(word);
  }

  #numberOrReference(number: number): PdfValue {
    const before = this.#at;
    const generation = /^\d{1,5}$/.exec(this.#wordOrNone())?.[0];
    if (generation !== undefined && this.#wordOrNone() === 'R') return new PdfRef(number, Number(generation));
    this.#at = before;
    return number;
  }

  #integer(): number {
    const word = this.word();
    if (!/^\d{1,10}$/.test(word)) throw invalidSyntax('a number is missing');
    return Number(word);
  }

  /** Reads the next word, such as `xref`. */
  word(): string {
    const word = this.#wordOrNone();
    if (word === '') throw invalidSyntax('a value is missing');
    return word;
  }

  /** Returns the text up to the next delimiter, which may be empty. */
  #wordOrNone(): string {
    this.#skip();
    const from = this.#at;
    for (;;) {
      const byte = this.#peek();
      if (WHITESPACE.has(byte) || DELIMITERS.has(byte)) break;
      if (this.#at - from > 200) throw invalidSyntax('a word is too long');
      this.#at++;
    }
    return this.#bytes.toString('latin1', from, this.#at);
  }

  #name(): PdfName {
    this.#at++;
    const text = WHITESPACE.has(this.#peek()) ? '' : this.#wordOrNone();
    if (this.#isStrict && /#(?![0-9a-f]{2})|#00/i.test(text))
      throw invalidSyntax('a name has an invalid escape');
    return new PdfName(
      text.replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    );
  }

  #array(depth: number): PdfValue[] {
    this.#at++;
    const values: PdfValue[] = [];
    for (;;) {
      this.#skip();
      if (this.#peek() === 93) break;
      values.push(this.value(depth + 1));
    }
    this.#at++;
    return values;
  }

  #dict(depth: number): PdfDict {
    this.#at += 2;
    const dict = new PdfDict();
    for (;;) {
      this.#skip();
      if (this.#peek() === 62 && this.#peek(1) === 62) break;
      if (this.#peek() !== 47) throw invalidSyntax('a dictionary has an entry without a name');
      const { name } = this.#name();
      if (this.#isStrict && dict.entries.has(name)) throw invalidSyntax('a dictionary repeats a key');
      dict.add(name, this.value(depth + 1));
    }
    this.#at += 2;
    return dict;
  }

  #hex(): PdfString {
    const from = this.#at;
    const end = this.#bytes.indexOf(62, from);
    if (end < 0) throw new TruncatedError();
    const digits = this.#bytes.toString('latin1', from + 1, end).replace(/[\0\t\n\f\r ]/g, '');
    if (!/^[0-9a-f]*$/i.test(digits)) throw invalidSyntax('a hexadecimal string has invalid characters');
    this.#at = end + 1;
    const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
    return new PdfString(bytes, { isHex: true, start: this.#offset + from, end: this.position });
  }

  #literal(): PdfString {
    const from = this.#at++;
    const bytes: number[] = [];
    for (let open = 1; ; ) {
      const byte = this.#peek();
      this.#at++;
      if (byte === 92) {
        this.#escape(bytes);
        continue;
      }
      if (byte === 40) open++;
      if (byte === 41 && --open === 0) break;
      bytes.push(byte);
    }
    return new PdfString(Buffer.from(bytes), {
      isHex: false,
      start: this.#offset + from,
      end: this.position,
    });
  }

  #escape(bytes: number[]): void {
    const octal = /^[0-7]{1,3}/.exec(this.#bytes.toString('latin1', this.#at, this.#at + 3))?.[0];
    if (octal !== undefined) {
      this.#at += octal.length;
      bytes.push(Number.parseInt(octal, 8) & 0xff);
      return;
    }
    const character = String.fromCharCode(this.#peek());
    this.#at++;
    if (character === '\r' && this.#peek() === 10) this.#at++;
    if (character === '\r' || character === '\n') return;
    bytes.push(ESCAPES.get(character) ?? character.charCodeAt(0));
  }

  #skip(): void {
    for (let byte = this.#bytes[this.#at]; byte !== undefined; byte = this.#bytes[this.#at]) {
      if (this.#isStrict && RARE.has(byte)) throw invalidSyntax('it has a comment or unusual whitespace');
      if (byte === COMMENT) this.#skipLine();
      else if (WHITESPACE.has(byte)) this.#at++;
      else return;
    }
  }

  #skipLine(): void {
    while (this.#at < this.#bytes.length && !isLineEnd(this.#bytes[this.#at])) this.#at++;
  }

  #isNext(word: string): boolean {
    if (this.#at + word.length > this.#bytes.length) throw new TruncatedError();
    return this.#bytes.toString('latin1', this.#at, this.#at + word.length) === word;
  }

  #peek(further = 0): number {
    const byte = this.#bytes[this.#at + further];
    if (byte === undefined) throw new TruncatedError();
    return byte;
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}

function invalidSyntax(what: string): UnreadablePdfError {
  return new UnreadablePdfError(`The file can't be read as a PDF: ${what}.`);
}
