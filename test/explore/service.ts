import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';

/** A request as the service receives it. `path` contains the query. */
export interface ServiceRequest {
  method: string;
  path: string;
  body: string;
}

export interface Answer {
  status: number;
  text: string;
}

/** An envelope with what the service knows about it. Times are in ms since the epoch. */
export interface Stored {
  id: string;
  status: 'DRAFT' | 'SENT' | 'CANCELLED';
  emails: string[];
  body: Record<string, unknown>;
  /** When it was created, and the time of creation that it shows. */
  at: number;
  createdAt: number;
  sentAt: number | undefined;
  /** It has been in a list. */
  wasListed: boolean;
}

const ROUTE = /\/esign\/envelopes(?:\/([^/?]+)(?:\/(\w+))?)?(?:\?(.*))?$/;

/** Returns what a request does, or undefined for a route that isn't explored. */
export function routeOf({ method, path }: ServiceRequest): Route | undefined {
  const [all, id, action, query] = ROUTE.exec(path) ?? [];
  if (all === undefined) return undefined;
  if (method === 'GET') return id === undefined ? { kind: 'list', query: new URLSearchParams(query) } : { kind: 'get', id };
  if (id === undefined) return { kind: 'create' };
  return action === 'send' || action === 'cancel' ? { kind: action, id } : undefined;
}

type Route =
  | { kind: 'list'; query: URLSearchParams }
  | { kind: 'get' | 'send' | 'cancel'; id: string }
  | { kind: 'create' };

/** A choice of the service: which envelopes a list shows, or how far `createdAt` is ahead, in ms. */
export interface Choice {
  shown?: ReadonlySet<string> | undefined;
  aheadMs?: number | undefined;
}

/** The service in memory. It counts emails, and notes the first thing that must not happen. */
export class Service {
  readonly stored: Stored[] = [];
  violation: { kind: 'twice' | 'canceled'; says: string } | undefined;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  answer(request: ServiceRequest, { shown, aheadMs = 0 }: Choice = {}): Answer {
    const route = routeOf(request);
    if (route === undefined) return refusal(404, 'NOT_FOUND');
    if (route.kind === 'list') return this.#list(route.query, shown);
    if (route.kind === 'create') return ok(201, this.#create(parseJson(request.body), aheadMs));
    const found = this.stored.find(({ id }) => id === route.id);
    if (found === undefined) return refusal(404, 'NOT_FOUND');
    if (route.kind === 'get') return ok(200, shape(found));
    if (route.kind === 'send' ? found.status !== 'DRAFT' : found.status === 'CANCELLED')
      return refusal(400, 'INVALID_STATE');
    if (route.kind === 'send') this.#send(found);
    else this.#cancel(found);
    return ok(200, shape(found));
  }

  /** A person cancels a draft in the service's dashboard. */
  cancelByHand(draft: Stored): void {
    draft.status = 'CANCELLED';
  }

  /** Its whole state. */
  get key(): string {
    return JSON.stringify(this.stored);
  }

  #create(body: unknown, aheadMs: number): Record<string, unknown> {
    if (!isRecord(body) || !isList(body.signers)) throw new Error('not a create body');
    const { sendImmediately, ...rest } = body;
    const created: Stored = {
      id: `env_${this.stored.length + 1}`,
      status: 'DRAFT',
      emails: body.signers.filter(isRecord).map(({ email }) => String(email)),
      body: rest,
      at: this.#now(),
      createdAt: this.#now() + aheadMs,
      sentAt: undefined,
      wasListed: false,
    };
    this.stored.push(created);
    if (sendImmediately === true) this.#send(created);
    return shape(created);
  }

  #send(envelope: Stored): void {
    envelope.status = 'SENT';
    envelope.sentAt = this.#now();
    const before = this.stored.find(
      (one) => one !== envelope && one.sentAt !== undefined && one.emails.some((email) => envelope.emails.includes(email)),
    );
    if (before)
      this.violation ??= { kind: 'twice', says: `${envelope.id} and ${before.id} were both sent to ${envelope.emails.join(', ')}` };
  }

  #cancel(envelope: Stored): void {
    envelope.status = 'CANCELLED';
    if (envelope.sentAt !== undefined)
      this.violation ??= { kind: 'canceled', says: `a process canceled ${envelope.id}, which had been sent` };
  }

  #list(query: URLSearchParams, shown: ReadonlySet<string> | undefined): Answer {
    const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('pageSize') ?? 20)];
    const status = query.get('status');
    const items = this.stored
      .filter((one) => (shown?.has(one.id) ?? true) && (status === null || one.status === status))
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
    const pagination = { page, pageSize, total: items.length, totalPages: Math.ceil(items.length / pageSize) };
    const data = items.slice((page - 1) * pageSize, page * pageSize).map(shape);
    return { status: 200, text: JSON.stringify({ data, meta: { pagination } }) };
  }
}

function shape({ id, status, body, createdAt, sentAt }: Stored): Record<string, unknown> {
  return {
    ...body,
    id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    sentAt: sentAt === undefined ? null : new Date(sentAt).toISOString(),
  };
}

function ok(status: number, data: unknown): Answer {
  return { status, text: JSON.stringify({ data }) };
}

function refusal(status: number, code: string): Answer {
  return { status, text: JSON.stringify({ error: { code, message: `${code} (${status})` } }) };
}
