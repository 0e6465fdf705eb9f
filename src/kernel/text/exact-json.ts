import { parseJson } from '../json.ts';
import { jsonTokens } from './json-text.ts';

/*
 * JSON whose numbers keep their digits. JavaScript rounds integers above 2^53 and decimals of more than 17 digits, and reads 1e400 as
 * infinite. A service may use such numbers as IDs in metadata.
 */

/** A number that JavaScript can't hold. Its text is as it was in the JSON. */
class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** Precedes the digits of a number in a string, until they are parsed or written. A name that no text contains by chance. */
const MARK = `esign-number-${Math.random().toString(36).slice(2)}:`;
const MARKED = new RegExp(`"${MARK}([^"]+)"`, 'g');
/** Matches the beginning of a number that may not be exact. Most JSON has none. */
const SUSPECT = /[:[,]\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;
const NUMBER = /^-?\d/;
/** Whether any number is kept as text. Until then, JSON is written as usual, because a replacer takes time. */
let isUsed = false;

/** Parses JSON. Numbers that would change become an ExactNumber. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  const value = parseJson(text);
  if (!SUSPECT.test(text)) return value;
  let marked = '';
  let from = 0;
  for (const { text: token, at } of jsonTokens(text)) {
    if (!NUMBER.test(token) || isExact(token)) continue;
    marked += `${text.slice(from, at)}"${MARK}${token}"`;
    from = at + token.length;
  }
  if (from === 0) return value;
  isUsed = true;
  return JSON.parse(marked + text.slice(from), (_, member: unknown) =>
    typeof member === 'string' && member.startsWith(MARK)
      ? new ExactNumber(member.slice(MARK.length))
      : member,
  );
}

/** Parses JSON as parseExactJson does. Returns undefined if the text is not JSON. */
export function tryParseExactJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Serializes a value to JSON with the digits of each ExactNumber. */
export function exactJsonText(value: unknown, space?: number): string {
  if (!isUsed) return JSON.stringify(value, null, space);
  const mark = (_: string, member: unknown) =>
    member instanceof ExactNumber ? `${MARK}${member.text}` : member;
  return JSON.stringify(value, mark, space).replace(MARKED, '$1');
}

/** Returns a value for people: a text as it is, and everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : exactJsonText(value);
}

/** Returns the path and the text of each ExactNumber in a value, such as `metadata.order`. */
export function* exactNumbersIn(value: unknown, path = ''): Generator<{ path: string; text: string }> {
  if (value instanceof ExactNumber) yield { path, text: value.text };
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* exactNumbersIn(member, path === '' ? name : `${path}.${name}`);
}

/** Returns true if JavaScript reads the number as it is written. */
function isExact(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && digitsOf(String(number)) === digitsOf(text);
}

/** Returns the significant digits with the place of the first one, the same for all ways to write a number. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text
    .toLowerCase()
    .replace('-', (sign, at) => (at === 0 ? '' : sign))
    .split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = `${whole}${fraction}`;
  const digits = all.replace(/^0+/, '');
  const place = whole.length - (all.length - digits.length) + Number(exponent);
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '0' : `${significant}e${place}`;
}
