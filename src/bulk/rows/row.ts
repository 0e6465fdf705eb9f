import type { NewEnvelope } from '../../envelopes/create.ts';
import { REQUEST_ID_KEY } from '../../envelopes/settle.ts';
import { isEmailAddress, type NewSigner } from '../../envelopes/signer-mailbox.ts';
import { counted } from '../../kernel/duration.ts';
import { entryOf, isList, isRecord } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { LIMITS, ROW_KEY, RUN_KEY, SIGNING_ORDERS } from '../../kernel/vocabulary.ts';
import type { RawRow } from './raw-row.ts';

/** A row that may be sent as it is. */
export interface BulkRow {
  /** Counted from 1, header and empty lines left out. */
  row: number;
  line: number;
  /** The user's own; else one is made of the run's id and the number of the row. */
  requestId?: string | undefined;
  envelope: NewEnvelope;
}

/** What a run writes into the metadata itself. */
const RESERVED = [REQUEST_ID_KEY, RUN_KEY, ROW_KEY];

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
const SIGNER_FIELDS = ['email', 'name', 'role', 'order'];
const DECIDED_ELSEWHERE: Readonly<Record<string, string>> = {
  sendImmediately: 'whether rows are sent is decided by --send; take it out',
  webhookSecret: 'secrets are kept out of files; take it out, and give --webhook-secret-file',
};
const LONGEST_REQUEST_ID = 200;

export interface CheckedRow {
  envelope: NewEnvelope;
  requestId: string | undefined;
  /** Signers without a name: the address stands in for it. */
  unnamed: number;
}

/** Told what is wrong with a field, by its path in the create body. */
type Complain = (path: string, text: string) => void;

/** Checks a row against what the API document says of a create body; complaints name each field that is wrong. */
export function checkRow(raw: RawRow, templateId: string | undefined, complain: Complain): CheckedRow {
  const value = isRecord(raw.value) ? raw.value : {};
  if (!isRecord(raw.value)) complain('', 'the line is no JSON object; write a create body');
  refuseUnknown(value, FIELDS, '', complain);
  const signers = readSigners(value.signers, complain);
  const text = (field: string) => readText(value, field, complain);
  const envelope: NewEnvelope = {
    templateId: text('templateId') ?? templateId ?? '',
    signers: signers.signers,
    subject: text('subject'),
    message: text('message'),
    metadata: readMetadata(value.metadata, complain),
    webhookUrl: readUrl(text('webhookUrl'), complain),
    expiresInDays: readDays(value.expiresInDays, complain),
    signingOrder: readOrder(text('signingOrder'), complain),
  };
  if (envelope.templateId === '')
    complain('templateId', 'no template is named; fill it in, or give --template');
  const requestId = text('requestId');
  if ((requestId?.length ?? 0) > LONGEST_REQUEST_ID)
    complain('requestId', `it is longer than ${LONGEST_REQUEST_ID} characters; shorten it`);
  return { envelope: withoutMissing(envelope), requestId, unnamed: signers.unnamed };
}

function withoutMissing(envelope: NewEnvelope): NewEnvelope {
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
  prefix: string,
  complain: Complain,
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = nearest(key, known);
    const text = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
    complain(`${prefix}${key}`, entryOf(DECIDED_ELSEWHERE, key) ?? `there is no such field; ${text}`);
  }
}

/** A text that is given and not blank. */
function readText(
  value: Readonly<Record<string, unknown>>,
  field: string,
  complain: Complain,
): string | undefined {
  const text = Object.hasOwn(value, field) ? value[field] : undefined;
  if (text === undefined || text === null) return undefined;
  if (typeof text === 'string' && text.trim() !== '') return text;
  complain(
    field,
    typeof text === 'string' ? 'it is blank; fill it in or leave it out' : 'it is no text; put it in quotes',
  );
  return undefined;
}

function readSigners(value: unknown, complain: Complain): { signers: NewSigner[]; unnamed: number } {
  if (!isList(value) || value.length === 0) {
    complain('signers', 'the row has no signer; an envelope needs at least one');
    return { signers: [], unnamed: 0 };
  }
  if (value.length > LIMITS.signers)
    complain(
      'signers',
      `the row has ${counted(value.length, 'signer')}; an envelope takes at most ${LIMITS.signers}`,
    );
  let unnamed = 0;
  const seen = new Set<string>();
  const signers = value.map((item, index) => {
    const path = `signers.${index}.`;
    const signer = readSigner(item, path, complain);
    const key = `${signer.email.toLowerCase()} ${signer.role ?? ''}`;
    if (signer.email !== '' && seen.has(key))
      complain(`${path}email`, `${signer.email} is a signer of this row already; keep one`);
    seen.add(key);
    unnamed += Number(signer.name === signer.email);
    return signer;
  });
  return { signers, unnamed };
}

function readSigner(value: unknown, path: string, complain: Complain): NewSigner {
  const record = isRecord(value) ? value : {};
  if (!isRecord(value)) complain(path.slice(0, -1), 'it is no object; write {"email":"a@b.c","name":"Ada"}');
  const inside: Complain = (field, text) => complain(`${path}${field}`, text);
  refuseUnknown(record, SIGNER_FIELDS, '', inside);
  const email = readText(record, 'email', inside)?.trim();
  if (email === undefined) {
    if (!Object.hasOwn(record, 'email')) inside('email', 'the signer has no address; fill it in');
  } else if (!isEmailAddress(email))
    inside('email', `"${email}" is not an email address; write it like a@b.c`);
  const role = readText(record, 'role', inside);
  const { order } = record;
  const hasOrder = order !== undefined && order !== null;
  if (hasOrder && !isWhole(order, 0))
    inside('order', `"${String(order)}" is not a whole number; write 1, 2, 3`);
  return {
    email: email ?? '',
    name: readText(record, 'name', inside) ?? email ?? '',
    ...(role === undefined ? {} : { role }),
    ...(hasOrder && isWhole(order, 0) ? { order } : {}),
  };
}

function readMetadata(value: unknown, complain: Complain): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) {
    complain('metadata', 'it is no object; write {"deal":"4711"}');
    return undefined;
  }
  for (const key of RESERVED) {
    if (Object.hasOwn(value, key))
      complain(`metadata.${key}`, 'esign keeps its own notes under this name; choose another one');
  }
  return value;
}

function readUrl(text: string | undefined, complain: Complain): string | undefined {
  if (text !== undefined && !(URL.canParse(text) && /^https?:/.test(text)))
    complain('webhookUrl', `"${text}" is not a web address; write it like https://example.com/hook`);
  return text;
}

function readDays(value: unknown, complain: Complain): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (isWhole(value, 1)) return value;
  complain('expiresInDays', `"${String(value)}" is not a number of days; write a whole number from 1`);
  return undefined;
}

function readOrder(text: string | undefined, complain: Complain): string | undefined {
  const order = text?.trim().toUpperCase();
  if (order !== undefined && !SIGNING_ORDERS.some((known) => known === order))
    complain('signingOrder', `"${text ?? ''}" is not a signing order; write sequential or parallel`);
  return order;
}

function isWhole(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}
