import {
  DRAWING_LIMITS,
  type Drawing,
  type EnvelopeRecord,
  type FieldRecord,
  type SignerRecord,
} from '../model.ts';
import { isoTime } from '../service/base/sandbox-clock.ts';
import { fieldsOfSigner, initials, isDate, isSigningDate } from '../service/engine/fields.ts';
import type { StoreState } from '../service/store/state.ts';

/** Returns the signer's fields in reading order: by page, then from top to bottom, then from left to right. */
export function fieldsFor(state: StoreState, envelope: EnvelopeRecord, signer: SignerRecord): FieldRecord[] {
  const template = state.templates.get(envelope.templateId);
  const fields = template === undefined ? [] : fieldsOfSigner(template, signer);
  return fields.toSorted((a, b) => a.page - b.page || a.y - b.y || a.x - b.x);
}

/** Returns the prefilled values: the signing date, the initials, and a printed name. Signatures are left to the signer. */
export function prefilledValues(
  fields: readonly FieldRecord[],
  signer: SignerRecord,
  now: number,
): Record<string, string> {
  const known = (field: FieldRecord): string => {
    if (field.type === 'INITIALS') return initials(signer.name);
    if (isSigningDate(field)) return isoTime(now).slice(0, 10);
    return field.type === 'TEXT' && /name in print/i.test(field.label) ? signer.name : '';
  };
  return Object.fromEntries(fields.map((field) => [field.fieldId, known(field)]));
}

/** A posted form, and the problems that prevent signing. */
export interface PostedForm {
  values: Record<string, string>;
  drawings: Record<string, Drawing>;
  /** The drawings as posted, in text form. */
  drawn: Record<string, string>;
  consent: boolean;
  /** The problems; empty if the form can be signed. */
  problems: FormProblem[];
}

/** A problem that prevents signing: a sentence, and the ID of the control to correct. */
export interface FormProblem {
  control: string;
  text: string;
}

/** Returns true for signatures and initials, which are drawn or typed. */
export function isHandwritten(field: FieldRecord): boolean {
  return field.type === 'SIGNATURE' || field.type === 'INITIALS';
}

const NO_DRAWING = 'is not a valid drawing. Draw it again or type it.';

/** Reads a posted form. For each field, `f.ID` is the typed or selected value, and `d.ID` is a drawing instead of it. */
export function readPosted(fields: readonly FieldRecord[], form: URLSearchParams): PostedForm {
  const consent = form.get('consent') === 'yes';
  const posted: PostedForm = { values: {}, drawings: {}, drawn: {}, consent, problems: [] };
  for (const field of fields) {
    const { fieldId } = field;
    const text = isHandwritten(field) ? textIn(form, `d.${fieldId}`) : '';
    const drawing = text === '' ? undefined : readDrawing(text);
    posted.values[fieldId] = drawing === undefined ? typedIn(field, textIn(form, `f.${fieldId}`)) : '';
    if (drawing !== undefined) {
      posted.drawings[fieldId] = drawing;
      posted.drawn[fieldId] = text;
      continue;
    }
    const problem =
      text === '' ? problemWith(field, posted.values[fieldId]) : `${placeOf(field)} ${NO_DRAWING}`;
    if (problem !== undefined) posted.problems.push({ control: fieldId, text: problem });
  }
  if (!consent)
    posted.problems.push({
      control: 'consent',
      text: 'Confirm that you have read and agree to the document.',
    });
  return posted;
}

/** Returns the text of a posted field; empty if it is missing. */
function textIn(form: URLSearchParams, name: string): string {
  return form.get(name) ?? '';
}

/** Returns the posted value of a field. Browsers don't post unchecked checkboxes. */
function typedIn(field: FieldRecord, posted: string): string {
  const text = posted.trim().slice(0, 500);
  return field.type === 'CHECKBOX' ? String(text === 'true') : text;
}

function problemWith(field: FieldRecord, value: string): string | undefined {
  if (field.required && (value === '' || value === 'false')) return `${placeOf(field)} is required.`;
  if (field.type === 'DROPDOWN' && value !== '' && field.options?.includes(value) === false)
    return `${field.label} must be one of the options.`;
  if (field.type === 'DATE' && value !== '' && !isDate(value))
    return `${placeOf(field)} must be a date such as 2026-03-01.`;
  return undefined;
}

function placeOf({ label, page }: FieldRecord): string {
  return `${label} (page ${page})`;
}

const POINT = String.raw`\d{1,4},\d{1,4}`;
const TEXT = new RegExp(`^${POINT}(?:[ ;]${POINT})*$`);
/** The maximum length of the text, with four digits per coordinate and separators. */
const MAX_LENGTH = DRAWING_LIMITS.points * '1000,1000 '.length;

/**
 * Parses a drawing as posted by a form: points `x,y` separated by spaces, strokes separated by semicolons. Returns undefined for any other
 * text, or if a limit of drawings is exceeded.
 */
function readDrawing(text: string): Drawing | undefined {
  if (text.length > MAX_LENGTH || !TEXT.test(text)) return undefined;
  const strokes = text.split(';').map((stroke) => stroke.split(/[ ,]/).map(Number));
  const points = strokes.reduce((sum, stroke) => sum + stroke.length / 2, 0);
  if (strokes.length > DRAWING_LIMITS.strokes || points > DRAWING_LIMITS.points) return undefined;
  return strokes.every((stroke) => stroke.every((value) => value <= DRAWING_LIMITS.range))
    ? strokes
    : undefined;
}
