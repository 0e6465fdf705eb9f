import type { DocumentKind, EventName, Scope } from '../kernel/vocabulary.ts';
import type { SandboxDelivery, SandboxEnvelope, SandboxMail, SandboxSigner } from './embed-model.ts';

/** The address of the sandbox's servers. Only programs on this machine can reach it. */
export const HOST = '127.0.0.1';

/** The field types that the sandbox's templates use and its signing pages can fill. */
export const FIELD_TYPES = ['SIGNATURE', 'INITIALS', 'DATE', 'TEXT', 'CHECKBOX', 'DROPDOWN'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A field of a template. The position is in PDF points from the page's top left corner. Pages are numbered from 1. */
export interface FieldRecord {
  fieldId: string;
  type: FieldType;
  label: string;
  required: boolean;
  page: number;
  /** The signer's role, which is not part of the API's representation. */
  role: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** The options of a DROPDOWN. */
  options?: string[];
  /** The type that the API returns for a stand-in's field whose type the sandbox doesn't support. */
  shownType?: string;
}

/** The maximum number of pages of a template. */
export const MAX_PAGES = 100;

export interface TemplateRecord {
  id: string;
  name: string;
  description: string;
  pageCount: number;
  fields: FieldRecord[];
  /** The roles, in the order in which they are assigned to signers without a role. */
  roles: string[];
  active: boolean;
  createdAt: string;
  updatedAt: string;
  /** True for a stand-in for another account's template: the fields are real, and the pages are drawn here and marked STAND-IN. */
  standIn?: boolean;
}

/** The limits of a drawing: its range on either axis, and the number of strokes and points. */
export const DRAWING_LIMITS = { range: 1_000, strokes: 120, points: 3_000 } as const;

/** A drawing: strokes as integers x, y, x, y … from the pad's top left corner. The pad is as wide as the range; y has the same unit. */
export type Drawing = readonly (readonly number[])[];

export const SIGNER_STATUSES = ['PENDING', 'SENT', 'VIEWED', 'SIGNED', 'DECLINED'] as const;
export type SignerStatus = (typeof SIGNER_STATUSES)[number];

/** A signer. The properties other than those of SandboxSigner are internal and never part of the API's representation. */
export interface SignerRecord extends SandboxSigner {
  status: SignerStatus;
  token: string;
  /** The ID printed under the signature. Unlike the signer's ID, it can't be guessed. */
  signatureId: string;
  /** The entered values by field ID. CHECKBOX: "true" or "false". SIGNATURE and INITIALS: the typed text. */
  values: Record<string, string>;
  /** The drawn SIGNATURE and INITIALS by field ID; their value is empty. Absent if nothing was drawn. */
  drawings?: Record<string, Drawing>;
}

/** A line of an envelope's history, as printed on the certificate. */
export interface HistoryEntry {
  at: string;
  what:
    | 'created'
    | 'sent'
    | 'notified'
    | 'reminded'
    | 'viewed'
    | 'signed'
    | 'declined'
    | 'completed'
    | 'cancelled'
    | 'expired';
  signerId: string | null;
  detail: string | null;
}

/** An envelope. The properties other than those of SandboxEnvelope are internal and never part of the API's representation. */
export interface EnvelopeRecord extends SandboxEnvelope {
  orgId: string;
  signers: SignerRecord[];
  webhookSecret: string | null;
  history: HistoryEntry[];
  /** The documents of a seeded or restored envelope, which are drawn when they are first requested. */
  pendingDocuments?: DocumentKind[];
}

export interface KeyRecord {
  id: string;
  orgId: string;
  name: string;
  description: string;
  /** The first 8 characters of the key. */
  prefix: string;
  /** The SHA-256 of the key in hex. The key itself is shown once and never stored. */
  hash: string;
  scopes: Scope[];
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** An email without what follows from its envelope. */
export type MailRecord = Omit<SandboxMail, 'subject' | 'text' | 'link'>;

export interface DeliveryRecord extends SandboxDelivery {
  event: EventName;
}

/** The destination for objects: the sandbox's own bucket behind the S3 endpoint. */
export interface ObjectWriter {
  put(key: string, body: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | null>;
  /** Deletes all objects, or those with the given keys. */
  clear(keys?: readonly string[]): Promise<void>;
  /** Calls `listener` before each read by another client, which finds nothing if the listener returns false. */
  onRead(listener: (key: string) => Promise<boolean>): void;
}

/** The data from which documents are drawn. */
export interface SignedInput {
  template: TemplateRecord;
  envelope: EnvelopeRecord;
  /** The document.pdf that was stored when the envelope was created. */
  document: Uint8Array;
}

export interface CertificateInput {
  template: TemplateRecord;
  envelope: EnvelopeRecord;
  /** The SHA-256 of document.pdf, in lowercase hex. */
  documentSha256: string;
  signedSha256: string;
}

/** Ways to tamper with a sealed document; docs/sandbox.md describes each. */
export const TAMPERINGS = ['changedText', 'appendedBytes', 'otherSeal', 'strippedSeal'] as const;
export type Tampering = (typeof TAMPERINGS)[number];

/** Draws documents. Passed to the service so that it doesn't depend on a PDF library. */
export interface DocumentMaker {
  /** Draws document.pdf: the template's own pages with empty fields. */
  document(template: TemplateRecord): Promise<Uint8Array>;
  signed(input: SignedInput): Promise<Uint8Array>;
  certificate(input: CertificateInput): Promise<Uint8Array>;
  /** Returns a sealed document after tampering; one without a seal is returned unchanged. */
  tampered(pdf: Uint8Array, how: Tampering): Promise<Uint8Array>;
  /** Returns the templates that every new sandbox starts with. */
  templates(): TemplateRecord[];
}
