import { DOCUMENT, type DocumentedValue } from './api-document.ts';
import { type CompatibilityReport, findingOf, ROLES } from './findings.ts';
import { describeForm, expectationOf, type Form, judge, readForm } from './forms.ts';
import { openPointsIn } from './observed-points.ts';
import type { Places, SeenForm } from './record.ts';

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
function sectionOf(place: string): string {
  return SECTIONS.find(([pattern]) => pattern.test(place))?.[1] ?? 'Response envelope';
}

/** Compares the observations with the API document. */
export function reportOf(places: Places): CompatibilityReport {
  const report: CompatibilityReport = { documented: [], openPoints: [], contradictions: [], neverSeen: [] };
  for (const [object, properties] of Object.entries(DOCUMENT.objects)) {
    if (object === 'EnvelopeListItem') continue;
    for (const [name, value] of Object.entries(properties))
      addValue(`${object}.${name}`, value, places, report);
  }
  addStatuses(places, report);
  addCodes(places, report);
  addOtherCodes(places, report);
  addHeaders(places, report);
  addOtherHeaders(places, report);
  addEvents(places, report);
  addUndocumented(places, report);
  openPointsIn(places, report);
  report.contradictions.sort((a, b) => a.since.localeCompare(b.since) || a.what.localeCompare(b.what));
  return report;
}

function addValue(place: string, value: DocumentedValue, places: Places, report: CompatibilityReport): void {
  const section = sectionOf(place);
  const forms = [...(places.get(place) ?? [])].map(([form, seen]) => ({ form: readForm(form), seen }));
  for (const { form, seen } of forms.filter((one) => judge(value, one.form) === 'contradiction')) {
    const what = `${place} is ${describeForm(form, value)}; documented: ${expectationOf(value)}`;
    report.contradictions.push(findingOf(what, section, [seen]));
  }
  if (value.type === 'never') return;
  const documented = forms.filter(({ form }) => form !== 'missing' && judge(value, form) === 'documented');
  if (value.words !== undefined && !value.isOpen) {
    addWords(place, value.words, documented, report);
    return;
  }
  const seen = documented.map((one) => one.seen);
  if (seen.length > 0) report.documented.push(findingOf(place, section, seen));
  else if (forms.every(({ form }) => form === 'missing') && !value.isOpen)
    report.neverSeen.push({ what: place, where: section });
}

function addWords(
  place: string,
  words: readonly string[],
  documented: readonly { form: Form; seen: SeenForm }[],
  report: CompatibilityReport,
): void {
  const section = sectionOf(place);
  // Each event is listed separately.
  if (place === 'SignedEvent.event') return;
  for (const word of words) {
    const found = documented.find(({ form }) => form === `=${word}`);
    if (found) report.documented.push(findingOf(`${place} ${word}`, section, [found.seen]));
    else report.neverSeen.push({ what: `${place} ${word}`, where: section });
  }
}

function addStatuses(places: Places, report: CompatibilityReport): void {
  for (const { id, method, path, status } of DOCUMENT.operations) {
    const seen = [...(places.get(`status ${id}`) ?? [])];
    const what = `${method} ${path}`;
    if (seen.length === 0) report.neverSeen.push({ what, where: 'Endpoints' });
    for (const [code, form] of seen) {
      if (status === undefined || code === String(status))
        report.documented.push({ ...findingOf(`${what} ${code}`, 'Endpoints', [form]), where: 'Endpoints' });
      else
        report.contradictions.push(
          findingOf(`status ${code} of ${what}; documented: ${status}`, 'Endpoints', [form]),
        );
    }
  }
}

function addCodes(places: Places, report: CompatibilityReport): void {
  for (const [code, status] of Object.entries(DOCUMENT.errorStatuses)) {
    const seen = [...(places.get(`code ${code}`) ?? [])];
    if (seen.length === 0) report.neverSeen.push({ what: `${code} (${status})`, where: 'Errors' });
    for (const [other, form] of seen) {
      if (other === String(status))
        report.documented.push(findingOf(`${code} (${status})`, 'Errors', [form]));
      else if (code !== 'VALIDATION_ERROR' || other !== '413')
        report.contradictions.push(
          findingOf(`${code} has status ${other}; documented: ${status}`, 'Errors', [form]),
        );
    }
  }
}

function addOtherCodes(places: Places, report: CompatibilityReport): void {
  for (const [place, forms] of places) {
    const code = /^code (.+)$/.exec(place)?.[1];
    if (code === undefined || Object.hasOwn(DOCUMENT.errorStatuses, code)) continue;
    const what = code === '*' ? 'an error code in an unexpected format' : `the error code ${code}`;
    const finding = findingOf(what, 'Errors', [...forms.values()]);
    report.openPoints.push({ ...finding, seen: [...forms.keys()].map((status) => `status ${status}`) });
  }
}

const HEADER_FORMS: Readonly<Record<string, string>> = {
  missing: 'missing',
  string: 'not a whole number',
  relative: 'a number of seconds from now, such as 900',
  other: 'not application/json',
};

function addHeaders(places: Places, report: CompatibilityReport): void {
  const expected = new Map([
    ...DOCUMENT.rateHeaders.map((name) => [name, 'a whole number'] as const),
    ['X-RateLimit-Reset', 'a Unix timestamp'] as const,
    ['Content-Type', 'application/json'] as const,
    [DOCUMENT.signature.header, 'lowercase hex, without a prefix'] as const,
  ]);
  for (const [name, expectation] of expected) {
    const seen = [...(places.get(`header ${name}`) ?? [])];
    const section = sectionOf(`header ${name}`);
    for (const [form, one] of seen) {
      const what = HEADER_FORMS[form];
      if (what !== undefined)
        report.contradictions.push(
          findingOf(`${name} is ${what}; documented: ${expectation}`, section, [one]),
        );
    }
    const documented = seen.flatMap(([form, one]) => (HEADER_FORMS[form] === undefined ? [one] : []));
    if (documented.length > 0) report.documented.push(findingOf(name, section, documented));
    else if (seen.length === 0 && name !== DOCUMENT.signature.header)
      report.neverSeen.push({ what: name, where: section });
  }
}

function addOtherHeaders(places: Places, report: CompatibilityReport): void {
  for (const [place, forms] of places) {
    const name = /^header ([a-z-]+|\*)$/.exec(place)?.[1];
    if (name === undefined) continue;
    const what = name === '*' ? 'another header' : `the header ${name}`;
    report.openPoints.push({ ...findingOf(what, 'Limits', [...forms.values()]), seen: ['present'] });
  }
}

function addEvents(places: Places, report: CompatibilityReport): void {
  for (const event of DOCUMENT.events) {
    const seen = places.get(`event ${event}`)?.get('object');
    if (seen) report.documented.push({ ...findingOf(event, 'Events', [seen]), where: 'Events' });
    else report.neverSeen.push({ what: event, where: 'Events' });
  }
  const other = places.get('event *')?.get('object');
  if (other) report.openPoints.push({ ...findingOf('another event', 'Events', [other]), seen: ['present'] });
}

/** Adds properties that the document doesn't mention. If an open point of the sandbox covers a property, it is listed there instead. */
function addUndocumented(places: Places, report: CompatibilityReport): void {
  for (const [place, forms] of places) {
    const at = place.lastIndexOf('.');
    const properties = DOCUMENT.objects[place.slice(0, Math.max(0, at))];
    const name = place.slice(at + 1);
    if (properties === undefined || Object.hasOwn(properties, name) || ROLES.includes(place)) continue;
    const seen = [...forms].map(([form]) => describeForm(readForm(form)));
    const what = name === '*' ? `an undocumented property of ${place.slice(0, at)}` : place;
    report.openPoints.push({ ...findingOf(what, sectionOf(place), [...forms.values()]), seen });
  }
}
