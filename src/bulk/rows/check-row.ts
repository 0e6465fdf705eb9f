import { counted } from '../../kernel/duration.ts';
import { isList, isRecord, ownValue } from '../../kernel/json.ts';
import {
  lineProblem,
  nameProblem,
  subjectProblem,
  textProblem,
} from '../../kernel/text/control-characters.ts';
import { addressProblem, comparableSigner } from '../../kernel/text/email-address.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { LIMITS, OWN_METADATA_KEYS, SIGNING_ORDERS } from '../../kernel/vocabulary.ts';
import type { EnvelopeInput, SignerInput } from '../../once/create-body.ts';
import { requestIdProblem } from '../../once/request-identity.ts';
import { SIGNER_FIELDS } from './headers.ts';
import { fillPlaceholders, foreignPlaceholders } from './placeholders.ts';
import type { RawRow } from './raw-row.ts';

const FIELDS = [
  'templateId',
  'signers',
  'subject',
  'message',
  'metadata',
  'webhookUrl',
  'expiresInDays',
  'signingOrder',
  'requestId',
];

/** Returns the fields of a row that are sent. Others may be added to the file later. */
export function bodyFields(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => FIELDS.includes(key)));
}

const DECIDED_ELSEWHERE: Readonly<Record<string, string>> = {
  sendImmediately: 'only --send sends rows; remove this field',
  webhookSecret: 'files must not contain secrets; remove it and pass --webhook-secret-file',
};

export interface CheckedRow {
  envelope: EnvelopeInput;
  /** The subject before placeholders are filled in. */
  subjectSource: string | undefined;
  requestId: string | undefined;
  /** Number of signers without a name. Their address is used instead. */
  unnamed: number;
  warnings: readonly { path: string; text: string }[];
}

/** Reports a problem with a field, by its path in the create body. */
type AddProblem = (path: string, text: string) => void;

/** The values of flags, for rows without their own. */
export interface RowDefaults {
  templateId?: string | undefined;
  subject?: string | undefined;
  message?: string | undefined;
}

/** Checks a row against the API document's create body and reports each wrong field. */
export function checkRow(raw: RawRow, defaults: RowDefaults, addProblem: AddProblem): CheckedRow {
  const value = isRecord(raw.value) ? raw.value : {};
  if (!isRecord(raw.value))
    addProblem('', 'the line is not a JSON object; it must be the body of a create request');
  refuseUnknown(value, FIELDS, addProblem);
  const signers = isRecord(raw.value) ? readSigners(value.signers, addProblem) : NO_SIGNERS;
  const warnings: { path: string; text: string }[] = [];
  const text = (field: string) => readText(value, field, addProblem);
  const email = (field: 'subject' | 'message') => {
    const own = text(field);
    const source = own ?? defaults[field];
    if (source === undefined) return undefined;
    const path = own === undefined ? '' : field;
    const worded = (what: string) => (path === '' ? `--${field}: ${what}` : what);
    for (const { written, name } of foreignPlaceholders(source, raw))
      warnings.push({ path, text: worded(`${written} is not a placeholder; write {${name}}`) });
    const filled = fillPlaceholders(source, raw, (what) => addProblem(path, worded(what)));
    const problem =
      field === 'subject' ? (subjectProblem(source) ?? lineProblem(filled)) : textProblem(filled);
    if (problem !== undefined) addProblem(path, worded(`it ${problem}`));
    return filled;
  };
  const envelope: EnvelopeInput = {
    templateId: text('templateId') ?? defaults.templateId ?? '',
    signers: signers.signers,
    subject: email('subject'),
    message: email('message'),
    metadata: readMetadata(value.metadata, addProblem),
    webhookUrl: readUrl(text('webhookUrl'), addProblem),
    expiresInDays: readDays(value.expiresInDays, addProblem),
    signingOrder: readOrder(text('signingOrder'), addProblem),
  };
  if (envelope.templateId === '')
    addProblem('templateId', 'the row has no template; fill it in or pass --template');
  const requestId = text('requestId');
  const problem = requestId === undefined ? undefined : requestIdProblem(requestId);
  if (problem !== undefined) addProblem('requestId', `it ${problem}; change it`);
  const subjectSource = readText(value, 'subject', () => undefined) ?? defaults.subject;
  return {
    envelope: withoutMissing(envelope),
    subjectSource,
    requestId,
    unnamed: signers.unnamed,
    warnings,
  };
}

function withoutMissing(envelope: EnvelopeInput): EnvelopeInput {
  const { templateId, signers, ...rest } = envelope;
  return {
    templateId,
    signers,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
  };
}

function refuseUnknown(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  addProblem: AddProblem,
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const suggestion = nearest(key, known);
    const text =
      suggestion === undefined ? `the fields are ${known.join(', ')}` : `did you mean ${suggestion}?`;
    addProblem(key, ownValue(DECIDED_ELSEWHERE, key) ?? `unknown field; ${text}`);
  }
}

/** Returns a text field. Reports a problem if it is blank or not text. */
function readText(
  value: Readonly<Record<string, unknown>>,
  field: string,
  addProblem: AddProblem,
): string | undefined {
  const text = Object.hasOwn(value, field) ? value[field] : undefined;
  if (text === undefined || text === null) return undefined;
  if (typeof text === 'string' && text.trim() !== '') return text;
  addProblem(
    field,
    typeof text === 'string' ? 'it is blank; fill it in or leave it out' : 'it is not text; put it in quotes',
  );
  return undefined;
}

/** Returns a text field that must not contain line breaks or other control characters. */
function readLine(
  value: Readonly<Record<string, unknown>>,
  field: string,
  addProblem: AddProblem,
  problemOf = lineProblem,
): string | undefined {
  const text = readText(value, field, addProblem);
  const problem = problemOf(text ?? '');
  if (problem !== undefined) addProblem(field, `it ${problem}`);
  return text;
}

const NO_SIGNERS = { signers: [], unnamed: 0 };

function readSigners(value: unknown, addProblem: AddProblem): { signers: SignerInput[]; unnamed: number } {
  if (!isList(value) || value.length === 0) {
    addProblem('signers', 'the row has no signer; an envelope needs at least one');
    return NO_SIGNERS;
  }
  if (value.length > LIMITS.signers)
    addProblem(
      'signers',
      `the row has ${counted(value.length, 'signer')}; an envelope takes at most ${LIMITS.signers}`,
    );
  let unnamed = 0;
  const seen = new Set<string>();
  const signers = value.map((item, index) => {
    const path = `signers.${index}.`;
    const signer = readSigner(item, path, addProblem);
    const key = `${comparableSigner(signer.email)} ${signer.role ?? ''}`;
    if (signer.email !== '' && seen.has(key))
      addProblem(`${path}email`, `${signer.email} is already a signer in this row; keep only one`);
    seen.add(key);
    unnamed += Number(signer.name === signer.email);
    return signer;
  });
  return { signers, unnamed };
}

function readSigner(value: unknown, path: string, addProblem: AddProblem): SignerInput {
  const record = isRecord(value) ? value : {};
  if (!isRecord(value))
    addProblem(path.slice(0, -1), 'it is not an object; use {"email":"a@b.c","name":"Ada"}');
  const inside: AddProblem = (field, text) => addProblem(`${path}${field}`, text);
  refuseUnknown(record, SIGNER_FIELDS, inside);
  const email = readText(record, 'email', inside)?.trim();
  if (email === undefined) {
    if (!Object.hasOwn(record, 'email')) inside('email', 'the signer has no email address; add one');
  } else checkAddress(email, inside);
  const role = readLine(record, 'role', inside);
  const { order } = record;
  const hasOrder = order !== undefined && order !== null;
  if (hasOrder && !isWhole(order, 0))
    inside('order', `"${String(order)}" is not a whole number; use 1, 2, 3, and so on`);
  return {
    email: email ?? '',
    name: readLine(record, 'name', inside, nameProblem) ?? email ?? '',
    ...(role === undefined ? {} : { role }),
    ...(hasOrder && isWhole(order, 0) ? { order } : {}),
  };
}

function checkAddress(email: string, addProblem: AddProblem): void {
  const problem = addressProblem(email);
  if (problem !== undefined) addProblem('email', `"${email}" ${problem}; use an address such as a@b.c`);
}

function readMetadata(value: unknown, addProblem: AddProblem): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) {
    addProblem('metadata', 'it is not an object; use {"deal":"4711"}');
    return undefined;
  }
  for (const key of OWN_METADATA_KEYS) {
    if (Object.hasOwn(value, key))
      addProblem(`metadata.${key}`, 'this name is reserved for esign; choose a different name');
  }
  return value;
}

function readUrl(text: string | undefined, addProblem: AddProblem): string | undefined {
  if (text !== undefined && !(URL.canParse(text) && /^https?:/.test(text)))
    addProblem('webhookUrl', `"${text}" is not a valid URL; use one such as https://example.com/hook`);
  return text;
}

function readDays(value: unknown, addProblem: AddProblem): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (isWhole(value, 1)) return value;
  addProblem('expiresInDays', `"${String(value)}" is not a number of days; use a whole number of 1 or more`);
  return undefined;
}

function readOrder(text: string | undefined, addProblem: AddProblem): string | undefined {
  const order = text?.trim().toUpperCase();
  if (order !== undefined && !SIGNING_ORDERS.some((known) => known === order))
    addProblem('signingOrder', `"${text ?? ''}" is not a valid signing order; use sequential or parallel`);
  return order;
}

function isWhole(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}
