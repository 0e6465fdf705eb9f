import { DOCUMENT, type DocumentedValue } from './api-document.ts';
import { FORMS, type Form, isWord, readForm } from './forms.ts';

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
