import type { DocumentedValue } from './api-document.ts';
import { DOCUMENT } from './document.ts';
import type { Form } from './forms.ts';

/** The description of each form, with an example if that helps. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
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
};

export function describeForm(form: Form, value?: DocumentedValue): string {
  if (form.startsWith('=')) return form.slice(1);
  if (form === 'string' && value?.words) return 'a different value';
  if (form === 'string' && value?.pattern) return 'a string in a different format';
  if (form === 'string' && value?.isTimestamp) return 'not a timestamp';
  return DESCRIPTIONS[form] ?? form;
}

/** Returns what the document shows instead. */
export function expectationOf(value: DocumentedValue): string {
  const orNull = value.isNullable ? ' or null' : '';
  if (value.type === 'never') return 'never returned';
  if (value.words) return value.words.join(', ');
  if (value.isTimestamp) return `an ISO 8601 UTC timestamp${orNull}`;
  if (value.pattern)
    return `the format ${value.pattern.replaceAll(/[\^$\\]/g, '').replaceAll('[^/]+', '…')}${orNull}`;
  return `${DESCRIPTIONS[value.type] ?? value.type}${orNull}`;
}

/** Sections of the API document, by the beginning of a place's name. */
const SECTIONS: readonly (readonly [RegExp, string])[] = [
  [/^TemplateField\b/, 'Template field'],
  [/^Template\./, 'Template'],
  [/^Envelope(ListItem)?\./, 'Envelope'],
  [/^Signer\./, 'Signer'],
  [/^SignedEvent\b|^header X-Service-Signature/, 'Events'],
  [/^Error\b/, 'Errors'],
  [/^header X-RateLimit/, 'Limits'],
  [/^header /, 'What the service does'],
];

/** Returns the section of the API document that describes a place. */
export function sectionOf(place: string): string {
  return SECTIONS.find(([pattern]) => pattern.test(place))?.[1] ?? 'Response envelope';
}

/** Returns the names of requests and events, such as `GET /esign/envelopes`. */
export function requestsOf(ids: readonly string[]): string {
  const names = ids.map((id) => {
    const operation = DOCUMENT.operations.find((one) => one.id === id);
    return operation === undefined ? id : `${operation.method} ${operation.path}`;
  });
  return names.filter((name) => name !== '').join(', ');
}
