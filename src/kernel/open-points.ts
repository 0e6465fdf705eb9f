/** A point that the API document leaves open. */
export interface OpenPoint {
  /** The section of the API document that doesn't define it. */
  section: string;
  /** The behaviors that the sandbox supports; the first is its default. A single value can't be changed. */
  values: readonly [string, ...string[]];
  decides: string;
  /** Why the sandbox has this default. */
  why: string;
  /** Why responses don't show the service's behavior. Points without this are observed. */
  unobservable?: string;
}

/** Every point that the API document leaves unspecified or ambiguous. */
export const OPEN_POINTS = {
  'list-items': {
    section: 'Endpoints, Envelopes',
    values: ['full', 'summary'],
    decides:
      'Items in the envelope list: complete envelopes, or envelopes without signers, message, metadata, webhookUrl, and keys.',
    why: "The API document doesn't show the items in the list. A complete envelope is the simplest interpretation.",
  },
  'list-order': {
    section: 'Endpoints, Envelopes',
    values: ['desc', 'asc'],
    decides: 'The sort order of the envelope list, by createdAt.',
    why: "The API document doesn't specify an order. Newest first is common.",
  },
  'action-reply': {
    section: 'Endpoints, Envelopes',
    values: ['envelope', 'success', 'empty204'],
    decides:
      'The response to send, cancel, and remind: 200 with the envelope, 200 with {"data":{"success":true}}, or 204 without a body.',
    why: "The API document doesn't show the response body. GET returns the envelope.",
  },
  'bad-paging': {
    section: 'Pagination parameters',
    values: ['error', 'clamp'],
    decides:
      'An invalid page, pageSize, or status returns VALIDATION_ERROR. Some services use the nearest valid number instead, and list nothing for an invalid status.',
    why: "The API document doesn't specify this. An error is easier to notice.",
  },
  'malformed-body': {
    section: 'Errors',
    unobservable: 'esign sends only JSON bodies',
    values: ['validation-error'],
    decides:
      'A body that is not JSON, is too large, or has a different content type causes VALIDATION_ERROR (400, 413).',
    why: 'This is the only documented code for an invalid request.',
  },
  'unknown-fields': {
    section: 'Create envelope body',
    values: ['validation-error'],
    decides:
      'An unknown field in the body of create, cancel, or remind causes VALIDATION_ERROR with its name.',
    why: "The API document doesn't specify this. Misspelled fields should be reported.",
  },
  'unknown-route': {
    section: 'Errors',
    values: ['not-found'],
    decides:
      'An unknown path returns 404 NOT_FOUND. A known path with a different method returns 405 in the same format.',
    why: "The API document doesn't specify this. NOT_FOUND is the closest code.",
  },
  'check-order': {
    section: 'Errors',
    unobservable: 'a response reports only one error',
    values: ['key-rate-permission-id-body-state-quota'],
    decides:
      'If several errors apply, the first one in this order is reported: 401, 429, 403, 404 for the path, 400 for the body, 404 or wrong roles for the template, INVALID_STATE or QUOTA_EXCEEDED.',
    why: "The API document doesn't specify an order. Cheap checks come first.",
  },
  'head-requests': {
    section: 'Endpoints',
    unobservable: 'a response to HEAD has no body to compare',
    values: ['like-get'],
    decides: 'HEAD returns the same headers as GET, without a body.',
    why: "The API document doesn't list HEAD. This is the behavior that HTTP specifies.",
  },
  'rate-window': {
    section: 'Limits',
    values: ['fixed'],
    decides:
      'Each key has a window that starts with its first request, rounded down to a second. Every response to a valid key has the three headers.',
    why: 'The API document specifies only "per 15 minutes".',
  },
  'retry-after': {
    section: 'Limits',
    values: ['off', 'on'],
    decides: 'Whether a 429 response has a Retry-After header, in seconds.',
    why: "The API document doesn't mention the header.",
  },
  'reset-header': {
    section: 'Limits',
    values: ['seconds', 'milliseconds'],
    decides: 'The unit of X-RateLimit-Reset.',
    why: '"Unix timestamp" usually means seconds.',
  },
  byob: {
    section: 'What the service does',
    values: ['on', 'off'],
    decides:
      "Whether the organization's storage is configured. If it is off, every API call returns 403 FORBIDDEN.",
    why: "The API document requires storage to be configured, but doesn't say what happens otherwise.",
  },
  'template-roles': {
    section: 'Template',
    values: ['shown', 'hidden'],
    decides: "Whether templates return their roles, and whether fields return the signer's role.",
    why: 'Signers must match a role in the template, but no documented field contains the roles. Clients should ignore additional fields.',
  },
  'free-role': {
    section: 'Create envelope body',
    unobservable: 'the response shows the role, not why it was chosen',
    values: ['next'],
    decides:
      "A signer without a role gets the template's next free role, or its last role if none is free. Two signers can have the same role.",
    why: "role is optional, but the API document doesn't say what happens without it.",
  },
  'signer-statuses': {
    section: 'Signer',
    values: ['known', 'unknown'],
    decides:
      'Signer statuses: PENDING, SENT, VIEWED, SIGNED, and DECLINED. Some services use AWAITING_TURN for PENDING and DELIVERED for VIEWED.',
    why: 'The API document shows only SENT. Clients must accept unknown statuses.',
  },
  'sequential-order': {
    section: 'Signer',
    values: ['lowest-first'],
    decides:
      'With SEQUENTIAL, the lowest order signs first, and equal orders sign at the same time. A missing order defaults to the position in the list.',
    why: 'The API document specifies only "signing order".',
  },
  'default-signing-order': {
    section: 'Create envelope body',
    values: ['parallel', 'sequential'],
    decides: 'The signingOrder of an envelope created without one.',
    why: "The field is optional, and the API document doesn't specify a default.",
  },
  viewed: {
    section: 'Events',
    values: ['once', 'every'],
    decides:
      "Whether envelope.viewed is sent only the first time a signer opens the envelope, or every time. The envelope's status doesn't change.",
    why: "The API document doesn't describe the effect of viewing. Services differ.",
  },
  'last-signed': {
    section: 'Events',
    values: ['in-progress', 'completed'],
    decides: 'The status in the last envelope.signed payload.',
    why: 'The documented payload has IN_PROGRESS. envelope.completed follows.',
  },
  'single-signer': {
    section: 'States and transitions',
    unobservable: 'the status can change unseen between two responses',
    values: ['sent-to-completed'],
    decides:
      'When the only signer signs, the status changes from SENT to COMPLETED, and the events envelope.signed and envelope.completed are sent.',
    why: 'IN_PROGRESS is documented for "other signers still pending".',
  },
  decline: {
    section: 'States and transitions',
    values: ['ends-envelope'],
    decides:
      'If one signer declines, the envelope becomes DECLINED immediately. The other signers keep their status.',
    why: "The API document doesn't show the transition to DECLINED.",
  },
  cancel: {
    section: 'States and transitions',
    values: ['literal', 'strict'],
    decides: 'Whether DRAFT and DECLINED can be canceled (literal), or only SENT and IN_PROGRESS (strict).',
    why: 'The API document excludes only COMPLETED, CANCELLED, and EXPIRED, but also requires an active envelope.',
  },
  remind: {
    section: 'Endpoints, Envelopes',
    values: ['active-only'],
    decides:
      'Reminders are possible only for active envelopes, and only for signers whose turn it is. An unknown signer returns NOT_FOUND, and a signer who has signed returns INVALID_STATE.',
    why: 'The API document specifies only "pending signers".',
  },
  'reminder-gap': {
    section: 'Endpoints, Envelopes',
    unobservable: 'the record contains no IDs, so it has no earlier reminder to compare with',
    values: ['none', '1h', '24h'],
    decides:
      'The minimum time between reminders to the same signer. Sending one sooner returns INVALID_STATE.',
    why: "The API document doesn't specify a limit. Some services have one.",
  },
  'expiry-from': {
    section: 'Create envelope body',
    values: ['creation', 'sending'],
    decides: 'The start of the expiresInDays period.',
    why: "expiresAt is set when the envelope is created, but the API document doesn't say what it counts from.",
  },
  'draft-expiry': {
    section: 'States and transitions',
    values: ['never'],
    decides: "A draft doesn't expire. If it is sent after its expiresAt, it expires immediately.",
    why: 'Only active envelopes expire.',
  },
  'longest-expiry': {
    section: 'Limits',
    values: ['365-days'],
    decides: 'The maximum for expiresInDays.',
    why: "The API document doesn't specify a maximum.",
  },
  'quota-counts': {
    section: 'Limits',
    unobservable: 'no response contains the quota',
    values: ['envelopes', 'signers'],
    decides:
      'Whether the monthly quota counts envelopes or signers when an envelope is created. Months are in UTC, and `sandbox start --quota` sets the size.',
    why: 'The API document specifies a monthly envelope limit, but some services count signers instead.',
  },
  payload: {
    section: 'Events',
    values: ['event', 'type'],
    decides: 'The structure of an event: {event, timestamp, data}, or {id, type, createdAt, data}.',
    why: 'The first structure is documented for envelope.signed. Some services use the second.',
  },
  'event-data': {
    section: 'Events',
    values: ['by-event'],
    decides:
      'Data for undocumented events: envelopeId and status, plus signer (viewed, declined), reason (cancelled), or completedAt, signers, and keys (completed).',
    why: 'The API document shows only the envelope.signed payload.',
  },
  signature: {
    section: 'Events',
    values: ['bare', 'prefixed'],
    decides: 'Whether X-Service-Signature is plain hex or hex prefixed with sha256=.',
    why: 'Plain hex is documented. Some services use the prefix.',
  },
  delivery: {
    section: 'Events',
    unobservable: 'the listener accepts every valid delivery, so none is retried',
    values: ['at-least-once'],
    decides:
      'Webhooks are sent as POST requests. A 2xx response within 30 s is a success, and redirects are not followed. Retries follow after 10 s, 1 min, 5 min, 30 min, and 2 h on the sandbox clock.',
    why: "The API document doesn't specify retries, timeouts, or expected status codes.",
  },
  finalisation: {
    section: 'States and transitions',
    values: ['at-once', 'delayed'],
    decides:
      'The envelope becomes COMPLETED with the last signature, or stays IN_PROGRESS for 5 more seconds on the sandbox clock. The documents exist before that.',
    why: "The API document doesn't say how long completion takes.",
  },
} as const satisfies Record<string, OpenPoint>;
