/*
 * What the service sends, for those who program against it. Any field but an id may be missing or null, lists of words
 * (status, type) are open, and what the service adds later is there under its own name.
 */

/** A field of a template that somebody fills in or signs. */
export interface TemplateField {
  fieldId?: string | null | undefined;
  type?: string | null | undefined;
  label?: string | null | undefined;
  required?: boolean | null | undefined;
  page?: number | null | undefined;
  [field: string]: unknown;
}

/** What envelopes are made from. Items of a list may lack fields that `get` shows. */
export interface Template {
  id: string;
  name?: string | null | undefined;
  description?: string | null | undefined;
  pageCount?: number | null | undefined;
  fields?: TemplateField[] | null | undefined;
  createdAt?: string | null | undefined;
  updatedAt?: string | null | undefined;
  [field: string]: unknown;
}

/** Somebody who is asked to sign. */
export interface Signer {
  id?: string | null | undefined;
  email?: string | null | undefined;
  name?: string | null | undefined;
  role?: string | null | undefined;
  order?: number | null | undefined;
  status?: string | null | undefined;
  signedAt?: string | null | undefined;
  declinedAt?: string | null | undefined;
  declineReason?: string | null | undefined;
  [field: string]: unknown;
}

/** The documented statuses of an envelope; the service may add others. */
export type EnvelopeStatus =
  | 'DRAFT'
  | 'SENT'
  | 'IN_PROGRESS'
  | 'COMPLETED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'DECLINED'
  // Any other string, while editors still suggest the names above.
  | (string & {});

/** A request for signatures. Items of a list may lack `signers` and `metadata`. */
export interface Envelope {
  id: string;
  templateId?: string | null | undefined;
  templateName?: string | null | undefined;
  status?: EnvelopeStatus | null | undefined;
  signingOrder?: string | null | undefined;
  subject?: string | null | undefined;
  message?: string | null | undefined;
  signers?: Signer[] | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  webhookUrl?: string | null | undefined;
  expiresAt?: string | null | undefined;
  createdAt?: string | null | undefined;
  sentAt?: string | null | undefined;
  completedAt?: string | null | undefined;
  documentStorageKey?: string | null | undefined;
  signedDocumentStorageKey?: string | null | undefined;
  certificateStorageKey?: string | null | undefined;
  [field: string]: unknown;
}

/** A signer of a new envelope. */
export interface NewSigner {
  email: string;
  name: string;
  role?: string;
  order?: number;
}

/** A new envelope. */
export interface NewEnvelope {
  templateId: string;
  /** At least one, at most 20. */
  signers: NewSigner[];
  subject?: string | undefined;
  message?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  webhookUrl?: string | undefined;
  /** At least 16 characters; only together with `webhookUrl`. */
  webhookSecret?: string | undefined;
  expiresInDays?: number | undefined;
  signingOrder?: 'SEQUENTIAL' | 'PARALLEL' | undefined;
  /** Sends it at once; otherwise it is a draft. */
  send?: boolean | undefined;
}

/**
 * What became of a write. `settled`: it is known, from the reply or, where that was lost, from looking (`lookup`), or an
 * earlier call under the same request id had done it (`earlier`). `unknown`: the reply was lost and looking did not help;
 * the service may or may not have done it.
 */
export type Outcome =
  | {
      kind: 'settled';
      envelope: Envelope;
      by: 'reply' | 'lookup' | 'earlier';
      /** Something to know although the envelope exists, such as REQUEST_ID_NOT_ECHOED: the service drops the request ID. */
      warning?: { code: string; message: string } | undefined;
    }
  | { kind: 'unknown'; error: Error };

/** The outcome of a create, and the id under which to ask for it again. */
export type CreateOutcome = Outcome & { requestId: string };

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Where the service says so. */
  totalPages: number | undefined;
}

/** A verified webhook. Fields that the payload does not have are null. */
export interface WebhookEvent {
  /** The payload's own id, or the SHA-256 of its bytes: the same when a delivery is repeated. */
  id: string;
  /** Like `envelope.completed`. */
  event: string | null;
  /** When it happened, ISO 8601. */
  timestamp: string | null;
  envelopeId: string | null;
  status: EnvelopeStatus | null;
  /** The signer's email address, in events about one signer. */
  signer: string | null;
  /** The parsed payload. */
  body: Record<string, unknown>;
}
