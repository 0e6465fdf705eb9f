/** The terms of the API document. Each list names its section. */

/** Events. */
export const EVENTS = [
  'envelope.sent',
  'envelope.viewed',
  'envelope.signed',
  'envelope.completed',
  'envelope.declined',
  'envelope.expired',
  'envelope.cancelled',
] as const;
export type EventName = (typeof EVENTS)[number];

/** Create envelope body. */
export const SIGNING_ORDERS = ['SEQUENTIAL', 'PARALLEL'] as const;
export type SigningOrder = (typeof SIGNING_ORDERS)[number];

/** Errors: all documented codes. The service may send others. */
export const SERVICE_ERROR_CODES = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'VALIDATION_ERROR',
  'INVALID_STATE',
  'RATE_LIMITED',
  'QUOTA_EXCEEDED',
] as const;
export type ServiceErrorCode = (typeof SERVICE_ERROR_CODES)[number];

/** Authentication, scoped permissions. */
export const SCOPES = ['esign:read', 'esign:write'] as const;
export type Scope = (typeof SCOPES)[number];

/** The maximum by which one `advance` may move the sandbox's clock: ten years. */
export const MAX_ADVANCE_DAYS = 3_650;

/** The limits and defaults of the service (API document, Limits). */
export const LIMITS = {
  pageSize: 100,
  defaultPageSize: 20,
  signers: 20,
  webhookSecret: 16,
  expiresInDays: 30,
  /** The highest rate limit: that of the Enterprise tier. */
  rate: { requests: 10_000, seconds: 900 },
} as const;

/** The three documents of an envelope. The last part of their storage key is `<kind>.pdf`. */
export const DOCUMENT_KINDS = ['signed', 'certificate', 'document'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** The metadata key of the request ID, which is used to find an envelope after a lost response. */
export const REQUEST_ID_KEY = 'esignRequestId';
/** The metadata keys by which a bulk run finds its envelopes. */
export const RUN_KEY = 'esignRun';
export const ROW_KEY = 'esignRow';
/** The metadata key of a replacement. Its value is the ID of the replaced envelope. */
export const REPLACES_KEY = 'replaces';
/** The metadata key of a hash of what is signed: the template, the subject, and the metadata of the user (once/request-identity.ts). */
export const CONTENT_KEY = 'esignContent';
/** The metadata keys that esign writes. They are not part of the user's metadata. */
export const OWN_METADATA_KEYS: readonly string[] = [
  REQUEST_ID_KEY,
  CONTENT_KEY,
  RUN_KEY,
  ROW_KEY,
  REPLACES_KEY,
];

/** Events: the header with the lowercase hex HMAC-SHA256 of the raw payload. */
export const SIGNATURE_HEADER = 'X-Service-Signature';
