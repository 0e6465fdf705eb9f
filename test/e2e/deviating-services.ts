import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { envelope, page, signer, template } from '../compatibility/rig.ts';
import { json, type SeenRequest } from '../support/server.ts';
import { type FakeService, fakeService } from './fake-service.ts';

type Json = Record<string, unknown>;

/** How a service differs from the API document. */
interface Deviation {
  envelope?: (envelope: Json) => Json;
  item?: (envelope: Json) => Json;
  template?: (template: Json) => Json;
  pagination?: Json;
  createStatus?: number;
  stateStatus?: number;
  actionReply?: { status: number; body?: unknown };
  headers?: Json;
}

const RATE = {
  'x-ratelimit-limit': '10000',
  'x-ratelimit-remaining': '9999',
  'x-ratelimit-reset': '4102444800',
};

/** A service written for these tests: it shares no code with the sandbox. */
export function serviceWith(deviation: Deviation): Promise<FakeService> {
  const headers = Object.fromEntries(
    Object.entries({ ...RATE, ...deviation.headers }).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  return fakeService((request, response) => {
    const [, resource, id, action] =
      /^\/api\/v1\/esign\/(\w+)(?:\/(\w+))?(?:\/(\w+))?$/.exec(request.path) ?? [];
    const isTemplate = resource === 'templates';
    const { status, body } =
      action !== undefined
        ? actionOf(action, deviation)
        : isTemplate
          ? templatesOf(id, deviation)
          : envelopesOf(id, request, deviation);
    if (body === undefined) response.writeHead(status, headers).end();
    else json(response, status, body, headers);
  });
}

interface Reply {
  status: number;
  body?: unknown;
}

function actionOf(
  action: string,
  { stateStatus = 400, actionReply, envelope: change = same }: Deviation,
): Reply {
  if (action === 'send')
    return { status: stateStatus, body: { error: { code: 'INVALID_STATE', message: 'It is sent' } } };
  return actionReply ?? { status: 200, body: { data: change(envelope()) } };
}

function templatesOf(id: string | undefined, { template: change = same, pagination }: Deviation): Reply {
  const one = change(template());
  return { status: 200, body: id === undefined ? page([one], pagination) : { data: one } };
}

function envelopesOf(id: string | undefined, request: SeenRequest, deviation: Deviation): Reply {
  const { envelope: change = same, item = change, createStatus = 201, pagination } = deviation;
  if (id === 'env_1') return { status: 200, body: { data: change(envelope()) } };
  if (id !== undefined)
    return { status: 404, body: { error: { code: 'NOT_FOUND', message: 'No such envelope' } } };
  if (request.method === 'POST')
    return { status: createStatus, body: { data: change(envelope(created(request))) } };
  const older = { id: 'env_2', createdAt: '2026-02-01T09:30:00.000Z' };
  return { status: 200, body: page([item(envelope()), item(envelope(older))], pagination) };
}

function same(value: Json): Json {
  return value;
}

/** Returns the metadata, as the document shows. */
function created({ body }: SeenRequest): Json {
  const sent = parseJson(body);
  return { status: 'DRAFT', sentAt: null, metadata: isRecord(sent) ? sent.metadata : {} };
}

/** The planted deviations of three services, and the findings of `compat`: nothing else. */
export const SERVICES: readonly {
  name: string;
  deviation: Deviation;
  contradictions: readonly string[];
  openPoints: Readonly<Record<string, readonly string[]>>;
  choices: Readonly<Record<string, string>>;
}[] = [
  {
    name: 'numbers as strings, a summary in lists, and another status for INVALID_STATE',
    deviation: {
      pagination: { total: '2' },
      stateStatus: 409,
      headers: { 'x-ratelimit-reset': '4102444800000', 'x-request-id': 'req_1' },
      item: ({ id, status, createdAt }) => ({ id, status, createdAt }),
    },
    contradictions: ['INVALID_STATE', 'Pagination.total'],
    openPoints: { 'the header x-request-id': ['present'] },
    choices: {
      'list-items': 'other',
      'reset-header': 'milliseconds',
      'list-order': 'desc',
      'template-roles': 'hidden',
    },
  },
  {
    name: 'offsets, an unknown status, and a missing property',
    deviation: {
      envelope: ({ webhookUrl: _, ...rest }) => ({
        ...rest,
        createdAt: String(rest.createdAt).replace('.000Z', '+00:00'),
        ...(rest.status === 'SENT' ? { status: 'ARCHIVED' } : {}),
      }),
      createStatus: 200,
      actionReply: { status: 200, body: { data: { success: true } } },
    },
    contradictions: ['Envelope.createdAt', 'Envelope.status', 'Envelope.webhookUrl', 'status 200'],
    openPoints: { 'action-reply': ['success'] },
    choices: { 'action-reply': 'success', 'reset-header': 'seconds', 'list-order': 'desc' },
  },
  {
    name: 'null for text, a missing header, and empty replies',
    deviation: {
      envelope: (value) => ({
        ...value,
        signers: [signer({ order: null, status: 'DELIVERED' })],
        locale: 'en',
      }),
      template: (value) => ({ ...value, description: null, roles: [{ name: 'Tenant' }] }),
      headers: { 'x-ratelimit-remaining': undefined },
      actionReply: { status: 204 },
    },
    contradictions: ['Signer.order', 'Template.description', 'X-RateLimit-Remaining'],
    openPoints: { 'Envelope.locale': ['a string'], 'signer-statuses': ['DELIVERED'] },
    choices: { 'action-reply': 'empty204', 'template-roles': 'shown', 'signer-statuses': 'unknown' },
  },
];
