import type { DocumentKind, EnvelopeStatus, EventName, Scope, SigningOrder } from '../kernel/vocabulary.ts';

/** Field types the sandbox's templates use and its signing pages can fill. */
export const FIELD_TYPES = ['SIGNATURE', 'INITIALS', 'DATE', 'TEXT', 'CHECKBOX', 'DROPDOWN'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A field of a template. Position in PDF points from the page's top left corner; `page` counts from 1. */
export interface TemplateField {
  fieldId: string;
  type: FieldType;
  label: string;
  required: boolean;
  page: number;
  /** Not part of the API's representation. */
  role: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Choices of a DROPDOWN. */
  options?: string[];
  /** The type that the API shows, of a stand-in whose field has a type the sandbox doesn't know. */
  shownType?: string;
}

/** A text box higher than this, in points, takes several lines. */
export const TALL_TEXT = 30;

/** Bounds of an uploaded PDF: bytes, pages, and the sides of a page in points. */
export const UPLOAD = { bytes: 10_000_000, pages: 100, shortest: 72, longest: 5_000 } as const;

/** The size of a page as a viewer shows it, in points. */
export interface PageSize {
  width: number;
  height: number;
}

/** The pages of a PDF, or why no template can be made from it, as a sentence. */
export type Inspection = { pages: PageSize[] } | { problem: string };

export interface TemplateRecord {
  id: string;
  name: string;
  description: string;
  pageCount: number;
  fields: TemplateField[];
  /** In the order in which signers without a role take them. */
  roles: string[];
  active: boolean;
  createdAt: string;
  updatedAt: string;
  /**
   * Whose PDF its pages are (null: everybody sees it), and how large they are; absent where the sandbox draws them for
   * everybody.
   */
  upload?: { orgId: string | null; pages: PageSize[] };
  /** True for the copy of another account's template: the fields are real, the pages are drawn here and marked STAND-IN. */
  standIn?: boolean;
}

/** Bounds of a drawing: its range on either axis, and how much one may hold. */
export const DRAWING = { range: 1_000, strokes: 120, points: 3_000 } as const;

/**
 * A drawing: strokes of whole numbers x, y, x, y … from the pad's top left corner. The pad is as wide as the
 * range; y is in the same unit.
 */
export type Drawing = readonly (readonly number[])[];

export type SignerStatus = 'PENDING' | 'SENT' | 'VIEWED' | 'SIGNED' | 'DECLINED';

export interface SignerRecord {
  id: string;
  email: string;
  name: string;
  role: string;
  order: number;
  status: SignerStatus;
  signedAt: string | null;
  declinedAt: string | null;
  declineReason: string | null;
  /** What follows is the sandbox's own and never part of the API's representation. */
  token: string;
  notifiedAt: string | null;
  viewedAt: string | null;
  consentAt: string | null;
  ip: string | null;
  userAgent: string | null;
  /** Printed under the signature; unguessable, unlike the signer id. */
  signatureId: string;
  /** Field id to entered value. CHECKBOX: "true" or "false". SIGNATURE and INITIALS: the typed text. */
  values: Record<string, string>;
  /** SIGNATURE and INITIALS that were drawn, by field id; their value is empty. Absent when nothing was drawn. */
  drawings?: Record<string, Drawing>;
}

/** One line of an envelope's history, as the certificate prints it. */
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

export interface EnvelopeRecord {
  id: string;
  orgId: string;
  templateId: string;
  templateName: string;
  status: EnvelopeStatus;
  signingOrder: SigningOrder;
  subject: string;
  message: string;
  signers: SignerRecord[];
  metadata: Record<string, unknown>;
  webhookUrl: string | null;
  /** Never returned. */
  webhookSecret: string | null;
  expiresAt: string;
  createdAt: string;
  sentAt: string | null;
  completedAt: string | null;
  documentStorageKey: string;
  signedDocumentStorageKey: string | null;
  certificateStorageKey: string | null;
  history: HistoryEntry[];
  /** Documents of a seeded envelope: they are drawn when somebody first asks for them. */
  owedPapers?: DocumentKind[];
}

/** An organisation that was given a name. */
export interface OrganisationRecord {
  id: string;
  name: string;
}

export interface KeyRecord {
  id: string;
  orgId: string;
  name: string;
  description: string;
  /** First 8 characters of the key. */
  prefix: string;
  /** Hex SHA-256 of the key: the key itself is shown once and never stored. */
  hash: string;
  scopes: Scope[];
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface MailRecord {
  id: string;
  at: string;
  kind: 'request' | 'reminder' | 'completed' | 'declined' | 'cancelled' | 'expired';
  envelopeId: string;
  signerId: string | null;
  to: string;
  subject: string;
  text: string;
}

export interface DeliveryAttempt {
  at: string;
  status: number | null;
  error: string | null;
  ms: number;
}

export interface DeliveryRecord {
  id: string;
  envelopeId: string;
  event: EventName;
  url: string;
  createdAt: string;
  /** The exact payload text that is signed and sent. */
  body: string;
  state: 'pending' | 'delivered' | 'failed';
  nextAttemptAt: string | null;
  attempts: DeliveryAttempt[];
}

/** Where objects go: the sandbox's own bucket behind the S3 endpoint. */
export interface ObjectWriter {
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
  get(key: string): Promise<Uint8Array | null>;
  /** Takes away what was put here and replaced by nobody since: all of it, or the keys named. */
  clear(keys?: readonly string[]): Promise<void>;
  /** Keeps what was put here, and not by others, in a folder; and brings exactly that back. What others put stays. */
  save(folder: string): Promise<void>;
  restore(folder: string): Promise<void>;
  /**
   * Calls `listener` for each read by others that finds nothing at a key, before it is answered; true means that there is
   * something now.
   */
  onMiss(listener: (key: string) => Promise<boolean>): void;
}

/** What the documents are drawn from. */
export interface SignedInput {
  template: TemplateRecord;
  envelope: EnvelopeRecord;
  /** document.pdf as it was stored when the envelope was created. */
  document: Uint8Array;
}

export interface CertificateInput {
  template: TemplateRecord;
  envelope: EnvelopeRecord;
  /** Lowercase hex. */
  documentSha256: string;
  signedSha256: string;
}

/** Draws documents. Passed to the service so that it doesn't depend on a PDF library. */
/** Ways to tamper with a sealed document; docs/sandbox.md describes each. */
export const TAMPERINGS = [
  ...[
    'changedText',
    'changedSignature',
    'changedCertificate',
    'changedAttributes',
    'cutShort',
    'appendedBytes',
  ],
  ...['replacedPage', 'addedNote', 'addedAppearance', 'newCatalog', 'fakeValidationData', 'droppedSignature'],
  ...[
    'emptiedField',
    'wrappedSignature',
    'shiftedByteRange',
    'emptyByteRange',
    'noByteRange',
    'repeatedByteRange',
  ],
  ...['emptyContents', 'zeroContents', 'nullContents', 'trailingBytes', 'foreignSignature'],
  ...['otherSeal', 'strippedSeal'],
] as const;
export type Tampering = (typeof TAMPERINGS)[number];

export interface DocumentMaker {
  /** Whether a template can be made from a file. */
  inspect(file: Uint8Array): Promise<Inspection>;
  /** The template's own pages, fields empty: document.pdf. `upload` is the PDF of a template that has one. */
  document(template: TemplateRecord, upload?: Uint8Array): Promise<Uint8Array>;
  signed(input: SignedInput): Promise<Uint8Array>;
  certificate(input: CertificateInput): Promise<Uint8Array>;
  /** Returns a sealed document after tampering; one without a seal is returned unchanged. */
  tampered(pdf: Uint8Array, how: Tampering): Promise<Uint8Array>;
  /** The templates every new sandbox starts with. */
  templates(): TemplateRecord[];
}
