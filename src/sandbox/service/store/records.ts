import * as z from 'zod';
import { ENVELOPE_STATUSES, EVENTS, SCOPES, SIGNING_ORDERS } from '../../../kernel/vocabulary.ts';
import {
  type DeliveryRecord,
  type EnvelopeRecord,
  FIELD_TYPES,
  type KeyRecord,
  type MailRecord,
  type TemplateRecord,
} from '../../model.ts';
import { isObject } from '../base/validation.ts';

/** One line of an organisation's audit log (Authentication 9). */
export interface AuditRecord {
  id: string;
  at: string;
  /** Null when the key was not one of the service's. */
  orgId: string | null;
  keyId: string | null;
  action: 'key.created' | 'key.revoked' | 'api.request' | 'api.rate_limited';
  method: string | null;
  /** Without the query. */
  path: string | null;
  status: number | null;
}

/** One change of the sandbox's state: what the journal keeps and replays. A record replaces its earlier self. */
export type Change =
  | { kind: 'org'; value: string }
  | { kind: 'clock'; value: number }
  | { kind: 'template'; value: TemplateRecord }
  | { kind: 'envelope'; value: EnvelopeRecord }
  | { kind: 'key'; value: KeyRecord }
  | { kind: 'mail'; value: MailRecord }
  | { kind: 'delivery'; value: DeliveryRecord }
  | { kind: 'audit'; value: AuditRecord }
  | { kind: 'reset'; value: null };

const maybe = z.string().nullable();

const template: z.ZodType<TemplateRecord> = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  pageCount: z.number(),
  fields: z.array(
    z.object({
      fieldId: z.string(),
      type: z.enum(FIELD_TYPES),
      label: z.string(),
      required: z.boolean(),
      page: z.number(),
      role: z.string(),
      x: z.number(),
      y: z.number(),
      width: z.number(),
      height: z.number(),
      options: z.array(z.string()).exactOptional(),
    }),
  ),
  roles: z.array(z.string()),
  active: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
  upload: z
    .object({
      orgId: z.string(),
      pages: z.array(z.object({ width: z.number(), height: z.number() })),
    })
    .exactOptional(),
});

const signer = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  order: z.number(),
  status: z.enum(['PENDING', 'SENT', 'VIEWED', 'SIGNED', 'DECLINED']),
  signedAt: maybe,
  declinedAt: maybe,
  declineReason: maybe,
  token: z.string(),
  notifiedAt: maybe,
  viewedAt: maybe,
  consentAt: maybe,
  ip: maybe,
  userAgent: maybe,
  signatureId: z.string(),
  values: z.record(z.string(), z.string()),
  drawings: z.record(z.string(), z.array(z.array(z.number()))).exactOptional(),
});

const HISTORY = [
  'created',
  'sent',
  'notified',
  'reminded',
  'viewed',
  'signed',
  'declined',
  'completed',
  'cancelled',
  'expired',
] as const;

const envelope: z.ZodType<EnvelopeRecord> = z.object({
  id: z.string(),
  orgId: z.string(),
  templateId: z.string(),
  templateName: z.string(),
  status: z.enum(ENVELOPE_STATUSES),
  signingOrder: z.enum(SIGNING_ORDERS),
  subject: z.string(),
  message: z.string(),
  signers: z.array(signer),
  metadata: z.custom<Record<string, unknown>>(isObject),
  webhookUrl: maybe,
  webhookSecret: maybe,
  expiresAt: z.string(),
  createdAt: z.string(),
  sentAt: maybe,
  completedAt: maybe,
  documentStorageKey: z.string(),
  signedDocumentStorageKey: maybe,
  certificateStorageKey: maybe,
  history: z.array(z.object({ at: z.string(), what: z.enum(HISTORY), signerId: maybe, detail: maybe })),
});

const key: z.ZodType<KeyRecord> = z.object({
  id: z.string(),
  orgId: z.string(),
  name: z.string(),
  description: z.string(),
  prefix: z.string(),
  hash: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: z.string(),
  lastUsedAt: maybe,
  expiresAt: maybe,
  revokedAt: maybe,
});

const mail: z.ZodType<MailRecord> = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.enum(['request', 'reminder', 'completed', 'declined', 'cancelled', 'expired']),
  envelopeId: z.string(),
  signerId: maybe,
  to: z.string(),
  subject: z.string(),
  text: z.string(),
});

const delivery: z.ZodType<DeliveryRecord> = z.object({
  id: z.string(),
  envelopeId: z.string(),
  event: z.enum(EVENTS),
  url: z.string(),
  createdAt: z.string(),
  body: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  nextAttemptAt: maybe,
  attempts: z.array(
    z.object({ at: z.string(), status: z.number().nullable(), error: maybe, ms: z.number() }),
  ),
});

const audit: z.ZodType<AuditRecord> = z.object({
  id: z.string(),
  at: z.string(),
  orgId: maybe,
  keyId: maybe,
  action: z.enum(['key.created', 'key.revoked', 'api.request', 'api.rate_limited']),
  method: maybe,
  path: maybe,
  status: z.number().nullable(),
});

/** One line of the journal: changes that happened together. */
export const changesSchema: z.ZodType<Change[]> = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('org'), value: z.string() }),
    z.object({ kind: z.literal('clock'), value: z.number() }),
    z.object({ kind: z.literal('template'), value: template }),
    z.object({ kind: z.literal('envelope'), value: envelope }),
    z.object({ kind: z.literal('key'), value: key }),
    z.object({ kind: z.literal('mail'), value: mail }),
    z.object({ kind: z.literal('delivery'), value: delivery }),
    z.object({ kind: z.literal('audit'), value: audit }),
    z.object({ kind: z.literal('reset'), value: z.null() }),
  ]),
);
