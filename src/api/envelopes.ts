import type { Subject } from '../kernel/errors.ts';
import type { HttpRequest, SendRequest } from './http.ts';
import { readPage, walkPages } from './pages.ts';
import { walkRecent } from './recent-pages.ts';
import { type Envelope, envelopeSchema, matches, readAs, resourceResponseSchema } from './schemas.ts';
import { type FindSimilarIds, idInPath, throwWithSubject } from './subject.ts';

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

export interface EnvelopePage {
  items: Envelope[];
  totalPages: number | undefined;
  total?: number | undefined;
}

export interface EnvelopesApi {
  /** Lists envelopes page by page. The service filters by at most one status. Items may lack signers and metadata. */
  list(options?: {
    status?: string | undefined;
    pageSize?: number | undefined;
    signal?: AbortSignal | undefined;
    onTotal?: ((total: number) => void) | undefined;
    /** Reads the page after the last one, then page 1 again, before it ends (`PageRequest`). */
    isThorough?: boolean | undefined;
  }): AsyncGenerator<Envelope, void, undefined>;
  /** Returns one page of 100, with the number of pages and envelopes if the service returns them. */
  page(
    page: number,
    options?: { status?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<EnvelopePage>;
  /**
   * Lists envelopes created at `since` (ms, service time) or later. If the list is sorted, older pages are not read. `since` is
   * called after the first response, which shows the service's time.
   */
  recent(since: () => number, signal?: AbortSignal): AsyncGenerator<Envelope, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<Envelope>;
  create(body: CreateEnvelopeBody, signal?: AbortSignal): Promise<Envelope>;
  /**
   * Sends an envelope. The response body of send, cancel, and remind is not documented. If it is an envelope, it is returned; for
   * any other 2xx body the result is undefined, and the caller reads the envelope.
   */
  send(id: string, signal?: AbortSignal): Promise<Envelope | undefined>;
  cancel(id: string, reason?: string, signal?: AbortSignal): Promise<Envelope | undefined>;
  remind(id: string, signerId?: string, signal?: AbortSignal): Promise<Envelope | undefined>;
}

/**
 * Creates the methods for the endpoints of the API document's section Envelopes. `onEnvelope` receives everything they return;
 * `alone` is true if the envelope was requested by its ID.
 */
export function envelopesApi(
  send: SendRequest,
  findSimilarIds?: FindSimilarIds,
  onEnvelope: (seen: Envelope, alone: boolean) => void = () => undefined,
): EnvelopesApi {
  const pathOf = (id: string, action = '') =>
    `/esign/envelopes/${idInPath({ kind: 'envelope', id })}${action}`;

  async function one(request: HttpRequest): Promise<Envelope> {
    const response = await send(request);
    const { data } = readAs(resourceResponseSchema, response.body, 'an envelope', response.status);
    const envelope = readAs(envelopeSchema, data, 'an envelope', response.status);
    // The response to a write may contain only a part of the envelope.
    onEnvelope(envelope, request.method === 'GET');
    return envelope;
  }

  async function act(id: string, action: string, body?: Record<string, string>, signal?: AbortSignal) {
    const request = { method: 'POST', path: pathOf(id, action), ...(body ? { body } : {}), signal } as const;
    const response = await send(request).catch(throwFor('envelope', id));
    if (!matches(resourceResponseSchema, response.body)) return undefined;
    const { data } = response.body;
    if (!matches(envelopeSchema, data) || data.id !== id) return undefined;
    onEnvelope(data, false);
    return data;
  }

  const throwFor = (kind: Subject['kind'], id: string) => (error: unknown) =>
    throwWithSubject({ kind, id }, error, findSimilarIds);

  const readItem = (item: unknown, status: number) =>
    readAs(envelopeSchema, item, 'a list of envelopes', status);

  const noted = (item: Envelope) => {
    onEnvelope(item, false);
    return item;
  };

  return {
    list: ({ status, ...options } = {}) => {
      const query = status === undefined ? {} : { query: { status } };
      return walkPages(send, { ...options, path: '/esign/envelopes', ...query }, (item, code) =>
        noted(readItem(item, code)),
      );
    },
    async page(number, { status, signal } = {}) {
      const query = status === undefined ? {} : { query: { status } };
      const page = await readPage(send, { path: '/esign/envelopes', ...query, signal }, number);
      const { status: code, totalPages, total } = page;
      return { items: page.items.map((item) => readItem(item, code)).map(noted), totalPages, total };
    },
    async *recent(since, signal) {
      for await (const item of walkRecent(send, { path: '/esign/envelopes', signal }, readItem, since))
        yield noted(item);
    },
    get: async (id, signal) =>
      one({ method: 'GET', path: pathOf(id), signal }).catch(throwFor('envelope', id)),
    create: (body, signal) =>
      one({ method: 'POST', path: '/esign/envelopes', body, signal }).catch(
        throwFor('template', body.templateId),
      ),
    send: (id, signal) => act(id, '/send', undefined, signal),
    cancel: (id, reason, signal) => act(id, '/cancel', reason === undefined ? undefined : { reason }, signal),
    remind: (id, signerId, signal) =>
      act(id, '/remind', signerId === undefined ? undefined : { signerId }, signal),
  };
}
