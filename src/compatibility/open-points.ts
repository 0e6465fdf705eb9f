/** Notes the service's behavior for an open point. */
export type NotePoint = (point: string, value: string) => void;

/** A point that the API document leaves open, as listed by `esign sandbox choices`. */
export interface OpenPoint {
  /** The decision left to the service. */
  decides: string;
  /** The section of the API document that doesn't define it. */
  section: string;
  /** The behaviors that the sandbox supports. */
  values: readonly string[];
  /** Why responses don't show it. Points without a reason are observed. */
  reason?: string;
}

/** All points of `sandbox choices`. test/compatibility/open-points.test.ts compares the two. */
export const OPEN_POINTS: Readonly<Record<string, OpenPoint>> = {
  'list-items': {
    decides: 'properties of the items of the envelope list',
    section: 'Endpoints, Envelopes',
    values: ['full', 'summary'],
  },
  'list-order': {
    decides: 'order of the envelope list',
    section: 'Endpoints, Envelopes',
    values: ['desc', 'asc'],
  },
  'action-reply': {
    decides: 'response of send, cancel, and remind',
    section: 'Endpoints, Envelopes',
    values: ['envelope', 'success', 'empty204'],
  },
  'bad-paging': {
    decides: 'response to a page, pageSize, or status that is not allowed',
    section: 'Pagination parameters',
    values: ['error', 'clamp'],
  },
  'malformed-body': {
    decides: 'response to a body that is not JSON',
    section: 'Errors',
    values: ['validation-error'],
    reason: 'esign sends only bodies that are JSON',
  },
  'unknown-fields': {
    decides: 'response to a create body with an unknown field',
    section: 'Create envelope body',
    values: ['validation-error'],
  },
  'unknown-route': { decides: 'response to an unknown path', section: 'Errors', values: ['not-found'] },
  'check-order': {
    decides: 'which of several errors is reported first',
    section: 'Errors',
    values: ['key-rate-permission-id-body-state-quota'],
    reason: 'a response shows one error, not which others the request had',
  },
  'head-requests': {
    decides: 'response to HEAD',
    section: 'Endpoints',
    values: ['like-get'],
    reason: 'a response to HEAD has no body to compare',
  },
  'rate-window': { decides: 'how the rate window moves', section: 'Limits', values: ['fixed'] },
  'retry-after': { decides: 'whether a 429 has Retry-After', section: 'Limits', values: ['off', 'on'] },
  'reset-header': {
    decides: 'unit of X-RateLimit-Reset',
    section: 'Limits',
    values: ['seconds', 'milliseconds'],
  },
  byob: {
    decides: 'whether the storage of the organization is configured',
    section: 'What the service does',
    values: ['on', 'off'],
  },
  'template-roles': {
    decides: 'whether templates show their roles',
    section: 'Template',
    values: ['shown', 'hidden'],
  },
  'free-role': {
    decides: 'role of a signer created without one',
    section: 'Create envelope body',
    values: ['next'],
    reason: 'the response shows the role, not why it was chosen',
  },
  'signer-statuses': { decides: 'statuses of signers', section: 'Signer', values: ['known', 'unknown'] },
  'sequential-order': {
    decides: 'who is asked first in a sequential envelope',
    section: 'Signer',
    values: ['lowest-first'],
  },
  'default-signing-order': {
    decides: 'signingOrder of an envelope created without one',
    section: 'Create envelope body',
    values: ['parallel', 'sequential'],
  },
  viewed: {
    decides: 'whether each view sends envelope.viewed, or only the first',
    section: 'Events',
    values: ['once', 'every'],
  },
  'last-signed': {
    decides: 'status in the last envelope.signed',
    section: 'Events',
    values: ['in-progress', 'completed'],
  },
  'single-signer': {
    decides: 'statuses of an envelope with one signer',
    section: 'States and transitions',
    values: ['sent-to-completed'],
    reason: 'the status can change unseen between two responses',
  },
  decline: {
    decides: 'status of an envelope after a decline',
    section: 'States and transitions',
    values: ['ends-envelope'],
  },
  cancel: {
    decides: 'whether DRAFT and DECLINED can be canceled',
    section: 'States and transitions',
    values: ['literal', 'strict'],
  },
  remind: {
    decides: 'whether only active envelopes can be reminded',
    section: 'Endpoints, Envelopes',
    values: ['active-only'],
  },
  'reminder-gap': {
    decides: 'how soon a signer can be reminded again',
    section: 'Endpoints, Envelopes',
    values: ['none', '1h', '24h'],
    reason: 'the record contains no IDs, so it has no earlier reminder to compare with',
  },
  'expiry-from': {
    decides: 'what expiresInDays counts from',
    section: 'Create envelope body',
    values: ['creation', 'sending'],
  },
  'draft-expiry': { decides: 'whether drafts expire', section: 'States and transitions', values: ['never'] },
  'longest-expiry': { decides: 'the largest expiresInDays', section: 'Limits', values: ['365-days'] },
  'quota-counts': {
    decides: 'what the monthly quota counts',
    section: 'Limits',
    values: ['envelopes', 'signers'],
    reason: 'no response shows the size of the quota',
  },
  payload: { decides: 'frame of an event', section: 'Events', values: ['event', 'type'] },
  'event-data': { decides: 'data of an event', section: 'Events', values: ['by-event'] },
  signature: { decides: 'form of X-Service-Signature', section: 'Events', values: ['bare', 'prefixed'] },
  delivery: {
    decides: 'retries of a delivery',
    section: 'Events',
    values: ['at-least-once'],
    reason: 'the listener accepts every valid delivery, so none is retried',
  },
  finalisation: {
    decides: 'when an envelope is COMPLETED after the last signature',
    section: 'States and transitions',
    values: ['at-once', 'delayed'],
  },
};
