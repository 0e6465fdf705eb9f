/** The terms of the API document. Each list names its section. */

/** States and transitions. */
export const ENVELOPE_STATUSES = [
  'DRAFT',
  'SENT',
  'IN_PROGRESS',
  'COMPLETED',
  'CANCELLED',
  'EXPIRED',
  'DECLINED',
] as const;
export type EnvelopeStatus = (typeof ENVELOPE_STATUSES)[number];

/** Statuses that are final: neither a signer nor time can change them. An unknown status is not terminal. */
const TERMINAL: ReadonlySet<string> = new Set<EnvelopeStatus>([
  'COMPLETED',
  'CANCELLED',
  'EXPIRED',
  'DECLINED',
]);

/** Returns true if the status of an envelope is final. */
export function isTerminal(status: string): boolean {
  return TERMINAL.has(status);
}

/** Statuses in which signers are asked to sign. */
export const IN_FLIGHT = ['SENT', 'IN_PROGRESS'] as const satisfies readonly EnvelopeStatus[];

/** Returns true for an envelope that was canceled before anyone was emailed. */
export function isVoid({
  status,
  sentAt,
}: {
  status?: string | null | undefined;
  sentAt?: string | null | undefined;
}): boolean {
  return status === 'CANCELLED' && !sentAt;
}

/** Returns true for an envelope that waits for signers and can expire. */
export function isInFlight(status: string | null | undefined): boolean {
  return IN_FLIGHT.some((one) => one === status);
}

/* What the service allows in each status (API document, States). If the document doesn't name the status, the service decides. */
export function canBeSent(status: string | null | undefined): boolean {
  return status === 'DRAFT' || !isDocumented(status);
}
export function canBeReminded(status: string | null | undefined): boolean {
  return isInFlight(status) || !isDocumented(status);
}

function isDocumented(status: string | null | undefined): boolean {
  return ENVELOPE_STATUSES.some((known) => known === status);
}

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

/** Limits. */
export const LIMITS = {
  pageSize: 100,
  defaultPageSize: 20,
  signers: 20,
  webhookSecret: 16,
  expiresInDays: 30,
} as const;

/** The three documents of an envelope. The last part of their storage key is `<kind>.pdf`. */
export const DOCUMENT_KINDS = ['signed', 'certificate', 'document'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** The metadata key of the request ID, which is used to find an envelope after a lost response. */
export const REQUEST_ID_KEY = 'esignRequestId';
/** The metadata keys by which a bulk run finds its envelopes. */
export const RUN_KEY = 'esignRun';
export const ROW_KEY = 'esignRow';
/** The metadata key of a replacement. Its value is the id of the replaced envelope. */
export const REPLACES_KEY = 'replaces';

/** Events: the header with the lowercase hex HMAC-SHA256 of the raw payload. */
export const SIGNATURE_HEADER = 'X-Service-Signature';

/**
 * The most serious effect that a command can have: it reads from the service or the bucket, writes to another system, emails
 * people, deletes, or affects only this machine.
 */
export const EFFECTS = ['reads', 'writes', 'mails', 'deletes', 'local'] as const;
export type Effect = (typeof EFFECTS)[number];

/** The effect of each command, by id. */
export const COMMAND_EFFECTS: Readonly<Record<string, Effect>> = {
  api: 'mails',
  autocomplete: 'local',
  'bulk:create': 'mails',
  'bulk:export': 'reads',
  'bulk:list': 'local',
  'bulk:rehearse': 'reads',
  'bulk:resume': 'mails',
  'bulk:roster': 'reads',
  'bulk:show': 'local',
  'bulk:status': 'reads',
  'bulk:template': 'reads',
  compat: 'local',
  demo: 'local',
  doctor: 'reads',
  'documents:download': 'reads',
  'documents:head': 'reads',
  'documents:link': 'reads',
  'documents:pins': 'local',
  'documents:verify': 'local',
  'envelopes:cancel': 'mails',
  'envelopes:create': 'mails',
  'envelopes:download': 'reads',
  'envelopes:evidence': 'reads',
  'envelopes:get': 'reads',
  'envelopes:list': 'reads',
  'envelopes:remind': 'mails',
  'envelopes:replace': 'mails',
  'envelopes:send': 'mails',
  'envelopes:summary': 'reads',
  'envelopes:watch': 'reads',
  'events:drill': 'writes',
  'events:gaps': 'reads',
  'events:list': 'local',
  'events:replay': 'writes',
  'events:secret': 'local',
  'events:show': 'local',
  'events:trigger': 'writes',
  'events:verify': 'local',
  find: 'reads',
  'index:clear': 'local',
  'index:refresh': 'reads',
  'index:show': 'local',
  late: 'reads',
  listen: 'writes',
  log: 'local',
  'log:undo': 'mails',
  'log:verify': 'local',
  mcp: 'mails',
  'profiles:add': 'local',
  'profiles:edit': 'local',
  'profiles:list': 'local',
  'profiles:remove': 'deletes',
  'profiles:show': 'local',
  'profiles:use': 'local',
  report: 'reads',
  'sandbox:advance': 'local',
  'sandbox:choices': 'local',
  'sandbox:decline': 'local',
  'sandbox:deliveries': 'local',
  'sandbox:exec': 'local',
  'sandbox:faults': 'local',
  'sandbox:mails': 'local',
  'sandbox:reset': 'deletes',
  'sandbox:seed': 'local',
  'sandbox:sign': 'local',
  'sandbox:snapshot': 'deletes',
  'sandbox:start': 'local',
  'sandbox:view': 'local',
  schema: 'local',
  'templates:get': 'reads',
  'templates:list': 'reads',
};
