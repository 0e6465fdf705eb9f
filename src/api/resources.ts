import { describeValue } from '../kernel/check-options.ts';
import { ServiceError, type Subject, UsageError } from '../kernel/errors.ts';
import { isNotFound } from '../kernel/request-failures.ts';
import type { HttpRequest, SendRequest } from './http.ts';
import { readPage, walkPages } from './pages.ts';
import type { Envelope, Template } from './resource-types.ts';
import {
  envelopeOf,
  matchesSchema,
  readAs,
  readEnvelope,
  resourceResponseSchema,
  templateSchema,
} from './schemas.ts';
import type { WriteIdentity } from './write-identity.ts';

/** The request body of Create envelope (API document). */
export interface CreateEnvelopeBody {
  templateId: string;
  signers: { email: string; name: string; role?: string; order?: number }[];
  subject?: string;
  message?: string;
  metadata?: Record<string, unknown>;
  webhookUrl?: string;
  webhookSecret?: string;
  expiresInDays?: number;
  signingOrder?: string;
  sendImmediately?: boolean;
}

/** What the log needs of a create. */
export type LoggedCreate = Pick<HttpRequest, 'once' | 'content'>;

export interface EnvelopePage {
  items: Envelope[];
  totalPages: number | undefined;
  total?: number | undefined;
}

/** Returns existing IDs that are similar to a missing one. */
export type FindSimilarIds = (missing: Subject) => Promise<string[]>;

/** The response that contained an envelope: that of a GET for it, of a write, or a list. Only the first certainly has all fields. */
export type EnvelopeSource = 'get' | 'write' | 'list';

export interface ResourceOptions {
  /** Finds existing IDs that are similar to a missing one. Without it, errors show only the missing ID. */
  findSimilarIds?: FindSimilarIds | undefined;
  /** Receives every envelope and template that the methods return. */
  onEnvelope?: ((seen: Envelope, source: EnvelopeSource) => void) | undefined;
  onTemplate?: ((seen: Template) => void) | undefined;
}

/** The methods for the endpoints of the API document's sections Templates and Envelopes. */
export type Resources = ReturnType<typeof createResources>;
export type EnvelopesApi = Resources['envelopes'];

interface ListOptions {
  pageSize?: number | undefined;
  signal?: AbortSignal | undefined;
  onTotal?: ((total: number) => void) | undefined;
}

export function createResources(
  send: SendRequest,
  { findSimilarIds, onEnvelope, onTemplate }: ResourceOptions = {},
) {
  const throwFor = (kind: Subject['kind'], id: string) => (error: unknown) =>
    throwWithSubject({ kind, id }, error, findSimilarIds);

  async function read(request: HttpRequest, what: string) {
    const { body, status } = await send(request);
    return { data: readAs(resourceResponseSchema, body, what, status).data, status };
  }

  const readTemplate = (data: unknown, what: string, status: number) => {
    const template = readAs(templateSchema, data, what, status);
    onTemplate?.(template);
    return template;
  };

  const pathOf = (id: string, action = '') =>
    `/esign/envelopes/${idInPath({ kind: 'envelope', id })}${action}`;
  const listOf = (status: string | undefined) => ({
    path: '/esign/envelopes',
    ...(status === undefined ? {} : { query: { status } }),
  });
  const readItem = (item: unknown, status: number) => readEnvelope(item, 'a list of envelopes', status);
  const noted = (envelope: Envelope, source: EnvelopeSource) => {
    onEnvelope?.(envelope, source);
    return envelope;
  };

  /** Requests an envelope by its ID. What the service returns with another ID is not noted: who asks for it gets yet another. */
  async function byId(id: string, options: Partial<HttpRequest>): Promise<Envelope> {
    const { data, status } = await read({ method: 'GET', path: pathOf(id), ...options }, 'an envelope');
    const envelope = readEnvelope(data, 'an envelope', status);
    return envelope.id === id ? noted(envelope, 'get') : envelope;
  }

  async function create(request: HttpRequest): Promise<Envelope> {
    const { data, status } = await read(request, 'an envelope');
    return noted(readEnvelope(data, 'an envelope', status), 'write');
  }

  async function act(
    id: string,
    action: string,
    body: Record<string, string> | undefined,
    signal: AbortSignal | undefined,
    once?: WriteIdentity,
  ) {
    const path = pathOf(id, action);
    const request = { method: 'POST', path, ...(body ? { body } : {}), signal, once } as const;
    const response = await send(request).catch(throwFor('envelope', id));
    if (!matchesSchema(resourceResponseSchema, response.body)) return undefined;
    const envelope = envelopeOf(response.body.data);
    return envelope?.id === id ? noted(envelope, 'write') : undefined;
  }

  const templates = {
    /** Lists active templates, page by page. */
    list: (options: ListOptions = {}) =>
      walkPages(send, { ...options, path: '/esign/templates' }, (item, status) =>
        readTemplate(item, 'a list of templates', status),
      ),
    async get(id: string, signal?: AbortSignal) {
      const path = `/esign/templates/${idInPath({ kind: 'template', id })}`;
      const { data, status } = await read({ method: 'GET', path, signal }, 'a template').catch(
        throwFor('template', id),
      );
      return readTemplate(data, 'a template', status);
    },
  };
  const envelopes = {
    /**
     * Lists envelopes page by page. The service filters by at most one status. Items may lack signers and metadata. `isThorough`:
     * see `PageRequest`.
     */
    list: ({
      status,
      ...options
    }: ListOptions & { status?: string | undefined; isThorough?: boolean | undefined } = {}) =>
      walkPages(send, { ...options, ...listOf(status) }, (item, code) => noted(readItem(item, code), 'list')),
    /** Returns one page of 100, with the number of pages and envelopes if the service returns them. */
    async page(
      number: number,
      { status, signal }: { status?: string | undefined; signal?: AbortSignal | undefined } = {},
    ): Promise<EnvelopePage> {
      const page = await readPage(send, { ...listOf(status), signal }, number);
      const items = page.items.map((item) => readItem(item, page.status));
      return {
        items: items.map((item) => noted(item, 'list')),
        totalPages: page.totalPages,
        total: page.total,
      };
    },
    get: async (id: string, signal?: AbortSignal) => byId(id, { signal }).catch(throwFor('envelope', id)),
    /**
     * Returns an envelope to complete an item of a list, or to follow it. What is nested too deeply is null, so that one envelope doesn't
     * hide the others.
     */
    getListed: async (id: string, signal?: AbortSignal) =>
      byId(id, { signal, cutsDeep: true }).catch(throwFor('envelope', id)),
    create: (body: CreateEnvelopeBody, signal?: AbortSignal, logged: LoggedCreate = {}) =>
      create({ method: 'POST', path: '/esign/envelopes', body, signal, ...logged }).catch(
        throwFor('template', body.templateId),
      ),
    /**
     * Sends an envelope. The response body of send, cancel, and remind is not documented. If it is an envelope, it is returned; for
     * any other 2xx body the result is undefined, and the caller reads the envelope.
     */
    send: (id: string, signal?: AbortSignal) => act(id, '/send', undefined, signal),
    cancel: (id: string, reason?: string, signal?: AbortSignal) =>
      act(id, '/cancel', reason === undefined ? undefined : { reason }, signal),
    remind: (id: string, signerId?: string, signal?: AbortSignal, once?: WriteIdentity) =>
      act(id, '/remind', signerId === undefined ? undefined : { signerId }, signal, once),
  };
  return { templates, envelopes };
}

/**
 * Returns the ID for use in a path.
 * @throws UsageError if it is not a string or is empty, or if it is `.` or `..`, which would request another path.
 */
function idInPath({ kind, id }: { kind: Subject['kind']; id: unknown }): string {
  if (typeof id === 'string' && !/^(?:\s*|\.{1,2})$|\p{Cs}/u.test(id)) return encodeURIComponent(id);
  throw new UsageError(
    `Invalid ${kind} ID: ${typeof id === 'string' ? JSON.stringify(id) : describeValue(id)}.`,
    {
      hint: 'If it comes from a variable, check that the variable is set.',
    },
  );
}

/** Throws the error of a request about an envelope or template. It names it and, if it doesn't exist, suggests similar IDs. */
async function throwWithSubject(
  subject: Subject,
  error: unknown,
  findSimilarIds: FindSimilarIds | undefined,
): Promise<never> {
  if (!(error instanceof ServiceError)) throw error;
  const isMissing = isNotFound(error);
  error.subject =
    isMissing && findSimilarIds ? { ...subject, suggestions: await findSimilarIds(subject) } : subject;
  throw error;
}
