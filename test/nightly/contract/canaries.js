const TIME = '2026-03-01T09:30:00.000Z';
const template = {
  id: 'tmpl_a',
  name: 'A',
  description: '',
  pageCount: 1,
  fields: [{ fieldId: 'f', type: 'SIGNATURE', label: 'F', required: true, page: 1 }],
  createdAt: TIME,
  updatedAt: TIME,
};
const signer = {
  id: 'signer_1',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'Signer',
  order: 1,
  status: 'SENT',
  signedAt: null,
  declinedAt: null,
  declineReason: null,
};
const envelope = {
  id: 'env_1',
  templateId: 'tmpl_a',
  templateName: 'A',
  status: 'SENT',
  signingOrder: 'PARALLEL',
  subject: 'S',
  message: '',
  signers: [signer],
  metadata: {},
  webhookUrl: null,
  expiresAt: TIME,
  createdAt: TIME,
  sentAt: TIME,
  completedAt: null,
  documentStorageKey: 'esign/envelopes/org_1/env_1/document.pdf',
  signedDocumentStorageKey: null,
  certificateStorageKey: null,
};
const { subject: _, ...withoutSubject } = envelope;
const meta = { pagination: { page: 1, pageSize: 20, total: 1, totalPages: 1 } };
const body = { templateId: 'tmpl_a', signers: [{ email: 'ada@example.com', name: 'Ada' }] };
const refusal = (code, details) => ({ error: { code, message: 'No', ...(details ? { details } : {}) } });

const asJson = (value) => Buffer.from(value === undefined ? '' : JSON.stringify(value));
const reply = (status, value, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json', 'x-ratelimit-reset': '1800000000', ...headers },
  body: asJson(value),
});
const exchange = (method, path, sent, response, headers = {}) => ({
  method,
  url: `/api/v1/esign${path}`,
  headers: {
    authorization: 'Bearer esk_canary',
    ...(sent === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(asJson(sent).length) }),
    ...headers,
  },
  body: asJson(sent),
  response,
});
const get = (response) => exchange('GET', '/envelopes/env_1', undefined, response);
const create = (sent, headers) =>
  exchange('POST', '/envelopes', sent, reply(201, { data: envelope }), headers);

/** Exchanges that the contract allows: none may be reported. */
export const RIGHT = {
  'a page of templates': exchange(
    'GET',
    '/templates?page=1&pageSize=100',
    undefined,
    reply(200, { data: [template], meta }),
  ),
  'an envelope with an unknown field': get(reply(200, { data: { ...envelope, mood: 'fine' } })),
  'a summary in a list': exchange(
    'GET',
    '/envelopes?status=SENT',
    undefined,
    reply(200, { data: [{ id: 'env_1', status: 'SENT' }], meta }),
  ),
  'a creation': create(body),
  'an unknown error code': get(reply(404, refusal('GONE_FISHING'))),
  'an action without a body': exchange('POST', '/envelopes/env_1/send', undefined, {
    status: 204,
    headers: {},
    body: Buffer.alloc(0),
  }),
  'an action with some body': exchange(
    'POST',
    '/envelopes/env_1/cancel',
    { reason: 'x' },
    reply(202, { data: true }),
  ),
  'an interrupted response': get(null),
};

/** Exchanges that violate the contract: each must be reported, or the check is blind. */
export const WRONG = {
  'an undocumented status': get(reply(500, refusal('INTERNAL'))),
  'another success status': get(reply(202, { data: envelope })),
  'another media type': get(reply(200, { data: envelope }, { 'content-type': 'text/html' })),
  'a body that is not JSON': get({ ...reply(200), body: Buffer.from('{"data":{"id"') }),
  'no body': get(reply(200)),
  'a missing field': get(reply(200, { data: withoutSubject })),
  'a field of another type': get(reply(200, { data: { ...envelope, signers: 'Ada' } })),
  'an unknown status': get(reply(200, { data: { ...envelope, status: 'LOST' } })),
  'a time that is not UTC': get(
    reply(200, { data: { ...envelope, createdAt: '2026-03-01T09:30:00.000+01:00' } }),
  ),
  'an ID in another form': get(reply(200, { data: { ...envelope, id: '1' } })),
  'a storage key elsewhere': get(reply(200, { data: { ...envelope, documentStorageKey: 'document.pdf' } })),
  'the webhook secret in a response': get(
    reply(200, { data: { ...envelope, webhookSecret: 'x'.repeat(16) } }),
  ),
  'a list without its pagination': exchange('GET', '/templates', undefined, reply(200, { data: [template] })),
  'details that are not lists': get(reply(404, refusal('NOT_FOUND', { id: 'unknown' }))),
  'a rate header that is not a number': get(
    reply(200, { data: envelope }, { 'x-ratelimit-remaining': 'plenty' }),
  ),
  'a 429 without a reset': get({
    ...reply(429, refusal('RATE_LIMITED')),
    headers: { 'content-type': 'application/json' },
  }),
  'a request without a key': exchange('GET', '/templates', undefined, reply(401, refusal('UNAUTHORIZED')), {
    authorization: undefined,
  }),
  'a pageSize above 100': exchange(
    'GET',
    '/templates?pageSize=101',
    undefined,
    reply(200, { data: [], meta }),
  ),
  'a creation without signers': create({ ...body, signers: [] }),
  'a creation with 21 signers': create({
    ...body,
    signers: Array.from({ length: 21 }, () => body.signers[0]),
  }),
  'a short webhook secret': create({ ...body, webhookSecret: 'short' }),
  'a creation of another media type': create(body, { 'content-type': 'text/plain' }),
  'a body for send, which has none': exchange(
    'POST',
    '/envelopes/env_1/send',
    { now: true },
    reply(200, { data: envelope }),
  ),
  'an unknown path': exchange('GET', '/signers', undefined, reply(404, refusal('NOT_FOUND'))),
  'an unknown method': exchange('DELETE', '/envelopes/env_1', undefined, reply(200, { data: envelope })),
  'an invalid request whose response was lost': { ...create({ ...body, signers: [] }), response: null },
};
