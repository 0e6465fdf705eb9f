/*
 * The resources of the service, also as the types of esign-cli/client. Any field except an ID may be missing or null, enumerations (status,
 * type) are open, and fields that the service adds later are included under their own names.
 */

/** A field of a template, to fill in or sign. */
export interface TemplateField {
  fieldId?: string | null | undefined;
  type?: string | null | undefined;
  label?: string | null | undefined;
  required?: boolean | null | undefined;
  page?: number | null | undefined;
  [field: string]: unknown;
}

/** A template for envelopes. Items of a list may lack fields that `get` returns. */
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

/** A person who is asked to sign. */
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
  // Accepts any other string, while editors still suggest the names above.
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
