import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../src/kernel/clock.ts';
import { ENVELOPE_STATUSES } from '../../src/kernel/statuses.ts';
import { SIGNING_ORDERS } from '../../src/kernel/vocabulary.ts';
import type { DocumentMaker, FieldRecord, ObjectWriter, TemplateRecord } from '../../src/sandbox/model.ts';
import { type Service, type ServiceOptions, startService } from '../../src/sandbox/service/server.ts';
import { newFolder } from '../support/folder.ts';

/** Exactly the documented fields of a signer: an extra one fails the parse. */
const signerShape = z.strictObject({
  id: z.string().regex(/^signer_\w+$/),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  order: z.int(),
  status: z.enum(['PENDING', 'SENT', 'VIEWED', 'SIGNED', 'DECLINED']),
  signedAt: z.iso.datetime().nullable(),
  declinedAt: z.iso.datetime().nullable(),
  declineReason: z.string().nullable(),
});

/** Exactly the documented fields of an envelope. */
export const envelopeShape = z.strictObject({
  id: z.string().regex(/^env_\w+$/),
  templateId: z.string(),
  templateName: z.string(),
  status: z.enum(ENVELOPE_STATUSES),
  signingOrder: z.enum(SIGNING_ORDERS),
  subject: z.string(),
  message: z.string(),
  signers: z.array(signerShape),
  metadata: z.custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null),
  webhookUrl: z.string().nullable(),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  sentAt: z.iso.datetime().nullable(),
  completedAt: z.iso.datetime().nullable(),
  documentStorageKey: z.string(),
  signedDocumentStorageKey: z.string().nullable(),
  certificateStorageKey: z.string().nullable(),
});
export type Envelope = z.infer<typeof envelopeShape>;

const errorShape = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string().min(1),
    details: z.record(z.string(), z.array(z.string())).optional(),
  }),
});

function field(fieldId: string, type: FieldRecord['type'], role: string, label: string): FieldRecord {
  return { fieldId, type, label, required: true, page: 1, role, x: 10, y: 10, width: 100, height: 20 };
}

/** Choices that give responses exactly the fields of the document. */
export const literal = { 'template-roles': 'hidden' };

const AT = '2026-01-01T00:00:00.000Z';

export const lease: TemplateRecord = {
  id: 'tmpl_lease',
  name: 'Lease',
  description: 'A flat for rent',
  pageCount: 2,
  fields: [
    field('tenant_sig', 'SIGNATURE', 'Tenant', 'Tenant signature'),
    field('tenant_initials', 'INITIALS', 'Tenant', 'Initials'),
    field('tenant_date', 'DATE', 'Tenant', 'Date'),
    field('tenant_email', 'TEXT', 'Tenant', 'E-mail address'),
    field('tenant_agrees', 'CHECKBOX', 'Tenant', 'House rules'),
    { ...field('tenant_term', 'DROPDOWN', 'Tenant', 'Term'), options: ['1 year', '2 years'] },
    field('landlord_sig', 'SIGNATURE', 'Landlord', 'Landlord signature'),
  ],
  roles: ['Tenant', 'Landlord'],
  active: true,
  createdAt: AT,
  updatedAt: AT,
};

const others: TemplateRecord[] = ['nda', 'offer', 'old'].map((name) => ({
  ...lease,
  id: `tmpl_${name}`,
  name: name.toUpperCase(),
  active: name !== 'old',
  fields: [field('sig', 'SIGNATURE', 'Signer', 'Signature')],
  roles: ['Signer'],
}));

class MemoryObjects implements ObjectWriter {
  readonly stored = new Map<string, Uint8Array>();
  private isVisible = (_key: string) => Promise.resolve(true);
  put(key: string, body: Uint8Array): Promise<void> {
    this.stored.set(key, body);
    return Promise.resolve();
  }
  get(key: string): Promise<Uint8Array | null> {
    return Promise.resolve(this.stored.get(key) ?? null);
  }
  clear(keys: readonly string[] = [...this.stored.keys()]): Promise<void> {
    for (const key of keys) this.stored.delete(key);
    return Promise.resolve();
  }
  onRead(listener: (key: string) => Promise<boolean>): void {
    this.isVisible = listener;
  }
  /** The responses to a client outside the service. */
  async read(key: string | null): Promise<string | undefined> {
    return (await this.isVisible(key ?? '')) ? this.text(key) : undefined;
  }
  text(key: string | null): string | undefined {
    const bytes = this.stored.get(key ?? '');
    return bytes && Buffer.from(bytes).toString();
  }
}

const pdf = (text: string) => Promise.resolve(Buffer.from(`%PDF-1.7 ${text}`));

/** Documents whose text shows what they were created from. */
export const plainDocuments: DocumentMaker = {
  templates: () => [lease, ...others],
  document: (template) => pdf(`document of ${template.id}`),
  signed: ({ envelope, document }) =>
    pdf(
      `signed ${envelope.status} ${Buffer.from(document).toString()} ${JSON.stringify(envelope.signers.map((one) => one.values))}`,
    ),
  certificate: ({ envelope, documentSha256, signedSha256 }) =>
    pdf(`certificate ${envelope.id} ${documentSha256} ${signedSha256}`),
  tampered: (pdf) => Promise.resolve(pdf),
};

export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
  text: string;
}

export interface Rig {
  service: Service;
  dataDir: string;
  objects: MemoryObjects;
  /** A call of the API below /api/v1; `key` null sends none. */
  api(method: string, path: string, body?: unknown, key?: string | null): Promise<Reply>;
  control(method: string, path: string, body?: unknown): Promise<Reply>;
  create(body?: Record<string, unknown>): Promise<Envelope>;
  get(id: string): Promise<Envelope>;
  /** sign, view, or decline through control; returns the envelope afterward. */
  act(id: string, what: 'sign' | 'view' | 'decline', body?: unknown): Promise<Envelope>;
  makeKey(body: Record<string, unknown>): Promise<{ id: string; key: string }>;
}

/** A running service on a free port, closed when the test ends. */
export async function startRig(options: Partial<ServiceOptions> = {}): Promise<Rig> {
  const dataDir = options.dataDir ?? newFolder();
  const objects = options.objects instanceof MemoryObjects ? options.objects : new MemoryObjects();
  const service = await startService({
    port: 0,
    rateLimit: { requests: 10_000, seconds: 900 },
    documents: plainDocuments,
    clock: systemClock,
    objects,
    ...options,
    dataDir,
  });
  onTestFinished(() => service.close());
  const call = (prefix: string) => (method: string, path: string, body?: unknown, key?: string | null) =>
    request(service.origin + prefix + path, method, body, key === undefined ? service.apiKey : key);
  const api = call('/api/v1');
  const control = call('/__sandbox');
  const get = async (id: string) => envelopeIn(await api('GET', `/esign/envelopes/${id}`));
  return {
    service,
    dataDir,
    objects,
    api,
    control,
    get,
    create: async (body = {}) =>
      envelopeIn(await api('POST', '/esign/envelopes', { ...twoSigners, ...body })),
    act: async (id, what, body) => envelopeIn(await control('POST', `/envelopes/${id}/${what}`, body)),
    makeKey: async (body) => {
      const made = await control('POST', '/keys', { name: 'test', scopes: ['esign:read'], ...body });
      return z.object({ data: z.object({ id: z.string(), key: z.string() }) }).parse(made.body).data;
    },
  };
}

export const ada = { email: 'ada@example.com', name: 'Ada Lovelace' };
export const bob = { email: 'bob@example.com', name: 'Bob Babbage' };
export const twoSigners = { templateId: lease.id, signers: [ada, bob] };

export async function request(
  url: string,
  method: string,
  body?: unknown,
  key?: string | null,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key == null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: unknown = text === '' ? null : jsonOf(text);
  return { status: response.status, headers: response.headers, body: json, text };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The envelope of a response; fails on an error response and on any undocumented field. */
export function envelopeIn(reply: Reply): Envelope {
  const parsed = z.strictObject({ data: envelopeShape }).safeParse(reply.body);
  if (!parsed.success) throw new Error(`not an envelope: ${reply.status} ${reply.text}`);
  return parsed.data.data;
}

/** The error of a response as `status code`, with its details; fails if it isn't in the API's shape. */
export function errorIn(reply: Reply) {
  const { error } = errorShape.parse(reply.body);
  return { is: `${reply.status} ${error.code}`, message: error.message, details: error.details };
}

export function listIn(reply: Reply) {
  return z
    .strictObject({
      data: z.array(z.looseObject({ id: z.string() })),
      meta: z.strictObject({
        pagination: z.strictObject({
          page: z.int(),
          pageSize: z.int(),
          total: z.int(),
          totalPages: z.int(),
        }),
      }),
    })
    .parse(reply.body);
}

const deliveriesShape = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      event: z.string(),
      envelopeId: z.string(),
      state: z.string(),
      nextAttemptAt: z.string().nullable(),
      attempts: z.array(
        z.object({
          at: z.string(),
          status: z.number().nullable(),
          error: z.string().nullable(),
          ms: z.number(),
        }),
      ),
    }),
  ),
});

export async function deliveriesOf(rig: Rig, envelopeId: string) {
  return deliveriesShape.parse((await rig.control('GET', `/deliveries?envelopeId=${envelopeId}`)).body).data;
}

const mailsShape = z.object({
  data: z.array(
    z.object({
      kind: z.string(),
      to: z.string(),
      subject: z.string(),
      text: z.string(),
      envelopeId: z.string(),
    }),
  ),
});

export async function mailsOf(rig: Rig, envelopeId: string) {
  return mailsShape.parse((await rig.control('GET', `/mails?envelopeId=${envelopeId}`)).body).data;
}

export const DAY = 86_400_000;
