import { OPEN_POINTS, type OpenPoint } from '../kernel/open-points.ts';
import { DOCUMENT } from './api-document.ts';
import { type CompatibilityReport, findingOf, ROLES } from './findings.ts';
import type { Places, SeenForm } from './record.ts';

/** An observed behavior for an open point. */
interface Reading {
  value: string;
  text?: string;
  forms: SeenForm[];
}

/** The sandbox's statuses of signers. */
const KNOWN_STATUSES = ['PENDING', 'SENT', 'VIEWED', 'SIGNED', 'DECLINED'];
const OTHER_STATUSES = ['AWAITING_TURN', 'DELIVERED'];
/** The fields that are missing in the summary of an envelope. */
const SUMMARY_LACKS = ['signers', 'message', 'metadata', 'webhookUrl'];

/** Adds the open points of the sandbox to a report. Points that responses can't show are listed with the reason. */
export function openPointsIn(places: Places, report: CompatibilityReport): void {
  for (const [name, point] of Object.entries<OpenPoint>(OPEN_POINTS)) {
    const readings = readingsOf(name, places);
    const what = `${name}: ${point.decides}`;
    if (readings.length === 0) {
      const why =
        point.unobservable === undefined ? what : `${what} It can't be observed: ${point.unobservable}.`;
      report.neverSeen.push({ what: why, where: point.section });
      continue;
    }
    const open = readings.filter(({ value, forms }) => {
      const contradicted = contradiction(name, value, forms);
      if (contradicted !== undefined)
        report.contradictions.push(findingOf(contradicted, point.section, forms));
      return contradicted === undefined && !isDocumented(name, value);
    });
    if (open.length === 0) continue;
    const forms = open.flatMap((one) => one.forms);
    report.openPoints.push({
      ...findingOf(what, point.section, forms),
      seen: open.map(({ value, text }) => text ?? value),
    });
  }
  addOpenWords(places, report);
}

/** Returns the observed behaviors that the sandbox supports, by name. `sandbox start --choices` reads them. */
export function choicesIn(places: Places): Record<string, string> {
  const chosen = Object.entries<OpenPoint>(OPEN_POINTS).flatMap(([name, point]) => {
    const readings = readingsOf(name, places);
    const value = readings.find((one) => point.values.includes(one.value))?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(chosen);
}

/** Returns the observed behaviors for an open point, most frequent first. */
function readingsOf(name: string, places: Places): Reading[] {
  if (name === 'list-items') return listItems(places);
  if (name === 'template-roles') return templateRoles(places);
  if (name === 'signer-statuses') return signerStatuses(places);
  if (name === 'reset-header')
    return ofForms(places.get('header X-RateLimit-Reset'), ['seconds', 'milliseconds']);
  if (name === 'event-data') return eventData(places);
  return ofForms(places.get(`? ${name}`));
}

function ofForms(forms: Map<string, SeenForm> | undefined, only?: readonly string[]): Reading[] {
  const seen = [...(forms ?? [])].filter(([value]) => only?.includes(value) ?? true);
  seen.sort(([, a], [, b]) => b.times - a.times);
  return seen.map(([value, form]) => ({ value, forms: [form] }));
}

/** Returns the contradiction if a behavior is an open point in one case but contradicts the document in another. */
function contradiction(name: string, value: string, forms: readonly SeenForm[]): string | undefined {
  if (name === 'signature' && value === 'prefixed')
    return `${DOCUMENT.signature.header} begins with sha256=, but is documented as lowercase hex only`;
  if (name === 'payload' && value !== 'event' && forms.some((form) => form.in.includes('envelope.signed')))
    return 'the payload of envelope.signed has a different structure; documented: event, timestamp, data';
  return undefined;
}

function isDocumented(name: string, value: string): boolean {
  return name === 'signature' && value === 'bare';
}

function listItems(places: Places): Reading[] {
  const item = places.get('EnvelopeListItem')?.get('object');
  if (item === undefined) return [];
  const lacking = Object.keys(DOCUMENT.objects.EnvelopeListItem ?? {}).filter((property) =>
    places.get(`EnvelopeListItem.${property}`)?.has('missing'),
  );
  if (lacking.length === 0) return [{ value: 'full', forms: [item] }];
  const value = SUMMARY_LACKS.every((property) => lacking.includes(property)) ? 'summary' : 'other';
  return [{ value, text: `without ${lacking.join(', ')}`, forms: [item] }];
}

function templateRoles(places: Places): Reading[] {
  const roles = ROLES.flatMap((place) => [...(places.get(place)?.values() ?? [])]);
  if (roles.length > 0) return [{ value: 'shown', forms: roles }];
  const seen = places.get('Template')?.get('object');
  return seen === undefined ? [] : [{ value: 'hidden', forms: [seen] }];
}

function signerStatuses(places: Places): Reading[] {
  const seen = [...(places.get('Signer.status') ?? [])].filter(([form]) => form.startsWith('='));
  if (seen.length === 0) return [];
  const words = seen.map(([form]) => form.slice(1)).sort();
  const value = words.some((word) => OTHER_STATUSES.includes(word))
    ? 'unknown'
    : words.every((word) => KNOWN_STATUSES.includes(word))
      ? 'known'
      : 'other';
  return [{ value, text: words.join(', '), forms: seen.map(([, form]) => form) }];
}

function eventData(places: Places): Reading[] {
  return DOCUMENT.events.flatMap((event) => {
    const seen = places.get(event)?.get('object');
    if (seen === undefined) return [];
    const keys = [...places.keys()].flatMap((place) =>
      place.startsWith(`${event}.`) ? [place.slice(event.length + 1)] : [],
    );
    return [{ value: event, text: `${event}: ${keys.sort().join(', ')}`, forms: [seen] }];
  });
}

/** Adds the observed values of an enumeration that is incomplete in the document, unless an open point covers it. */
function addOpenWords(places: Places, report: CompatibilityReport): void {
  const place = 'TemplateField.type';
  const seen = [...(places.get(place) ?? [])].filter(([form]) => form === 'string' || form.startsWith('='));
  if (seen.length === 0) return;
  const forms = seen.map(([, form]) => form);
  const words = seen.map(([form]) => (form === 'string' ? 'a different value' : form.slice(1)));
  report.openPoints.push({ ...findingOf(place, 'Template field', forms), seen: words.sort() });
}
