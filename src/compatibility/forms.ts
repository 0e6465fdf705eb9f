import type { DocumentedValue } from './api-document.ts';

/** The forms of values, with a description and an example if that helps. */
const FORMS = {
  missing: 'missing',
  null: 'null',
  boolean: 'a boolean',
  integer: 'an integer',
  number: 'a number with a fractional part',
  array: 'an array',
  object: 'an object',
  string: 'a string',
  digits: 'a number in quotes, such as "12"',
  empty: 'an empty string',
  timestamp: 'a timestamp',
  offset: 'a timestamp with an offset, such as "2026-03-01T10:30:00+01:00"',
  local: 'a timestamp without a time zone, such as "2026-03-01T09:30:00"',
  date: 'a date without a time, such as "2026-03-01"',
  pattern: 'pattern',
} as const;
/** The form of a value, without the value itself. Documented and similar words are stored as `=WORD`. */
export type Form = keyof typeof FORMS | `=${string}`;

/** Reads a form. A record is a file that anyone could have changed, so an unknown form is shown as a string. */
export function readForm(form: string): Form {
  if (isWord(form)) return form;
  return isNamed(form) ? form : 'string';
}

function isWord(form: string): form is `=${string}` {
  return form.startsWith('=');
}

function isNamed(form: string): form is keyof typeof FORMS {
  return Object.hasOwn(FORMS, form);
}

/** Undocumented words of an enumeration that are stored. */
const STORABLE_WORD = /^[A-Z_]{1,40}$/;
const MAX_WORDS = 40;

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DIGITS = /^[+-]?\d+(\.\d+)?$/;

/** Determines the form of a documented value. Runs for every value of every response, so it allocates almost no memory. */
export class ValueForms {
  readonly value: DocumentedValue;
  readonly #pattern: RegExp | undefined;
  readonly #words: Map<string, Form> | undefined;

  constructor(value: DocumentedValue) {
    this.value = value;
    this.#pattern = value.pattern === undefined ? undefined : new RegExp(value.pattern);
    this.#words = value.words && new Map(value.words.map((word) => [word, `=${word}`]));
  }

  formOf(value: unknown): Form {
    switch (typeof value) {
      case 'string':
        return this.#formOfText(value);
      case 'number':
        return Number.isInteger(value) ? 'integer' : 'number';
      case 'boolean':
        return 'boolean';
      case 'object':
        return value === null ? 'null' : Array.isArray(value) ? 'array' : 'object';
      default:
        return 'missing';
    }
  }

  #formOfText(text: string): Form {
    if (this.value.isTimestamp) return isUtc(text) ? 'timestamp' : formOfTime(text);
    if (this.#words !== undefined) return this.#words.get(text) ?? this.#learn(text, this.#words);
    if (this.#pattern !== undefined) return this.#pattern.test(text) ? 'pattern' : 'string';
    return this.value.type !== 'string' && DIGITS.test(text) ? 'digits' : 'string';
  }

  #learn(word: string, words: Map<string, Form>): Form {
    if (!STORABLE_WORD.test(word) || words.size >= MAX_WORDS) return word === '' ? 'empty' : 'string';
    words.set(word, `=${word}`);
    return `=${word}`;
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

function formOfTime(text: string): Form {
  const zone = TIMESTAMP.exec(text);
  if (zone !== null) return zone[2] === 'Z' ? 'timestamp' : zone[2] ? 'offset' : 'local';
  if (DATE.test(text)) return 'date';
  if (DIGITS.test(text)) return 'digits';
  return text === '' ? 'empty' : 'string';
}

/** Returns whether a form agrees with the document, contradicts it, or isn't covered by it. */
export function judge(value: DocumentedValue, form: Form): 'documented' | 'open' | 'contradiction' {
  if (form === 'missing') return value.isRequired ? 'contradiction' : 'documented';
  if (form === 'null') return value.isNullable ? 'documented' : 'contradiction';
  if (value.words !== undefined && (form === 'string' || form.startsWith('=')))
    return judgeWord(value.words, form, value.isOpen);
  return form === expectedForm(value) ? 'documented' : 'contradiction';
}

function judgeWord(words: readonly string[], form: Form, isOpen: boolean | undefined) {
  if (words.includes(form.slice(1))) return 'documented';
  return isOpen ? 'open' : 'contradiction';
}

function expectedForm(value: DocumentedValue): Form | undefined {
  if (value.type === 'never') return undefined;
  if (value.isTimestamp) return 'timestamp';
  if (value.pattern !== undefined) return 'pattern';
  return value.words === undefined ? readForm(value.type) : undefined;
}

export function describeForm(form: Form, value?: DocumentedValue): string {
  if (isWord(form)) return form.slice(1);
  if (form === 'string' && value?.words) return 'a different value';
  if (form === 'string' && value?.pattern) return 'a string in a different format';
  if (form === 'string' && value?.isTimestamp) return 'not a timestamp';
  return FORMS[form];
}

/** Returns what the document shows instead. */
export function expectationOf(value: DocumentedValue): string {
  const orNull = value.isNullable ? ' or null' : '';
  if (value.type === 'never') return 'never returned';
  if (value.words) return value.words.join(', ');
  if (value.isTimestamp) return `an ISO 8601 UTC timestamp${orNull}`;
  if (value.pattern)
    return `the format ${value.pattern.replaceAll(/[\^$\\]/g, '').replaceAll('[^/]+', '…')}${orNull}`;
  return `${describeForm(readForm(value.type))}${orNull}`;
}
