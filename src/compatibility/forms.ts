import type { DocumentedValue } from './api-document.ts';

/** The form of a value, without the value itself. Documented and similar words are stored as `=WORD`. */
export const FORMS = [
  'missing',
  'null',
  'boolean',
  'integer',
  'number',
  'array',
  'object',
  'string',
  'digits',
  'empty',
  'timestamp',
  'offset',
  'local',
  'date',
  'pattern',
] as const;
export type Form = (typeof FORMS)[number] | `=${string}`;

const CODES = {
  missing: 0,
  null: 1,
  boolean: 2,
  integer: 3,
  number: 4,
  array: 5,
  object: 6,
  string: 7,
  digits: 8,
  empty: 9,
  timestamp: 10,
  offset: 11,
  local: 12,
  date: 13,
  pattern: 14,
} as const satisfies Record<(typeof FORMS)[number], number>;

/** The lowest code of a word. Lower codes are forms. */
const FIRST_WORD = FORMS.length;
/** Undocumented words of an enumeration that are stored. */
const STORABLE_WORD = /^[A-Z_]{1,40}$/;
const MAX_WORDS = 40;

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DIGITS = /^[+-]?\d+(\.\d+)?$/;

/** Determines the form of a documented value. Runs for every value of every response, so it allocates no memory. */
export class ValueForms {
  readonly value: DocumentedValue;
  readonly #pattern: RegExp | undefined;
  readonly #words: Map<string, number> | undefined;

  constructor(value: DocumentedValue) {
    this.value = value;
    this.#pattern = value.pattern === undefined ? undefined : new RegExp(value.pattern);
    this.#words = value.words && new Map(value.words.map((word, index) => [word, FIRST_WORD + index]));
  }

  /** Returns a number for the form of a value. Equal forms have equal numbers. */
  codeOf(value: unknown): number {
    switch (typeof value) {
      case 'string':
        return this.#codeOfText(value);
      case 'number':
        return Number.isInteger(value) ? CODES.integer : CODES.number;
      case 'boolean':
        return CODES.boolean;
      case 'object':
        return value === null ? CODES.null : Array.isArray(value) ? CODES.array : CODES.object;
      default:
        return CODES.missing;
    }
  }

  formOf(value: unknown): Form {
    const code = this.codeOf(value);
    return code < FIRST_WORD ? (FORMS[code] ?? 'string') : `=${String(value)}`;
  }

  #codeOfText(text: string): number {
    if (this.value.isTimestamp) return isUtc(text) ? CODES.timestamp : codeOfTime(text);
    if (this.#words !== undefined) return this.#words.get(text) ?? this.#learn(text, this.#words);
    if (this.#pattern !== undefined) return this.#pattern.test(text) ? CODES.pattern : CODES.string;
    return this.value.type === 'string' ? CODES.string : DIGITS.test(text) ? CODES.digits : CODES.string;
  }

  #learn(word: string, words: Map<string, number>): number {
    if (!STORABLE_WORD.test(word) || words.size >= MAX_WORDS) return word === '' ? CODES.empty : CODES.string;
    const code = FIRST_WORD + words.size;
    words.set(word, code);
    return code;
  }
}

/** Returns true for the usual format of a timestamp. Doesn't use a regular expression. */
function isUtc(text: string): boolean {
  const { length } = text;
  if (length !== 24 && length !== 20) return false;
  return (
    text.charCodeAt(length - 1) === 90 &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    (length === 20 || text.charCodeAt(19) === 46)
  );
}

function codeOfTime(text: string): number {
  const zone = TIMESTAMP.exec(text);
  if (zone !== null) return zone[2] === 'Z' ? CODES.timestamp : zone[2] ? CODES.offset : CODES.local;
  if (DATE.test(text)) return CODES.date;
  if (DIGITS.test(text)) return CODES.digits;
  return text === '' ? CODES.empty : CODES.string;
}

/** Returns whether a form agrees with the document, contradicts it, or isn't covered by it. */
export function judge(value: DocumentedValue, form: Form): 'documented' | 'open' | 'contradiction' {
  if (form === 'missing') return value.isRequired ? 'contradiction' : 'documented';
  if (form === 'null') return value.isNullable ? 'documented' : 'contradiction';
  if (value.words !== undefined && (form === 'string' || form.startsWith('=')))
    return judgeWord(value.words, form, value.isOpen);
  return form === expectedForm(value) ? 'documented' : 'contradiction';
}

function judgeWord(words: readonly string[], form: Form, isOpen: true | undefined) {
  if (words.includes(form.slice(1))) return 'documented';
  return isOpen ? 'open' : 'contradiction';
}

function expectedForm(value: DocumentedValue): Form | undefined {
  if (value.type === 'never') return undefined;
  if (value.isTimestamp) return 'timestamp';
  if (value.pattern !== undefined) return 'pattern';
  return value.words === undefined ? value.type : undefined;
}
