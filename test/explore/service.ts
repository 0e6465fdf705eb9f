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
  readonly id: string;
  readonly status: 'DRAFT' | 'SENT' | 'CANCELLED';
  readonly emails: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** When it was created, and the time of creation that it shows. */
  readonly at: number;
  readonly createdAt: number;
  readonly sentAt: number | undefined;
  /** It has been in a list. */
  readonly wasListed: boolean;
}

const ROUTE = /\/esign\/envelopes(?:\/([^/?]+)(?:\/(\w+))?)?(?:\?(.*))?$/;

/** Returns what a request does, or undefined for a route that isn't explored. */
export function routeOf({ method, path }: ServiceRequest): Route | undefined {
  const [all, id, action, query] = ROUTE.exec(path) ?? [];
  if (all === undefined) return undefined;
  if (method === 'GET')
    return id === undefined ? { kind: 'list', query: new URLSearchParams(query) } : { kind: 'get', id };
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

/** The service in memory. It notes the first thing that must not happen. */
export class Service {
  stored: readonly Stored[] = [];
  violation: { kind: 'twice' | 'canceled'; says: string } | undefined;

  copy(): Service {
    return Object.assign(new Service(), { stored: this.stored, violation: this.violation });
  }

  /** Processes a request at this time (ms). */
  answer(request: ServiceRequest, now: number, { shown, aheadMs = 0 }: Choice = {}): Answer {
    const route = routeOf(request);
    if (route === undefined) return refusal(404, 'NOT_FOUND');
    if (route.kind === 'list') return this.#list(route.query, shown);
    if (route.kind === 'create') return ok(201, this.#create(parseJson(request.body), now, aheadMs));
    const found = this.stored.find(({ id }) => id === route.id);
    if (found === undefined) return refusal(404, 'NOT_FOUND');
    if (route.kind === 'get') return ok(200, found);
    if (route.kind === 'send' ? found.status !== 'DRAFT' : found.status === 'CANCELLED')
      return refusal(400, 'INVALID_STATE');
    return ok(200, route.kind === 'send' ? this.#send(found, now) : this.#cancel(found));
  }

  /** A person cancels a draft in the service's dashboard. */
  cancelByHand(id: string): void {
    const draft = this.stored.find((one) => one.id === id);
    if (draft) this.#change(draft, { status: 'CANCELLED' });
  }

  /** Its whole state. */
  get key(): string {
    return this.stored.map(keyOf).join('');
  }

  #change(one: Stored, changes: Partial<Stored>): Stored {
    const changed = { ...one, ...changes };
    this.stored = this.stored.map((other) => (other === one ? changed : other));
    return changed;
  }

  #create(body: unknown, now: number, aheadMs: number): Stored {
    if (!isRecord(body) || !isList(body.signers)) throw new Error('not a create body');
    const { sendImmediately, ...rest } = body;
    const created: Stored = {
      id: `env_${this.stored.length + 1}`,
      status: 'DRAFT',
      emails: body.signers.filter(isRecord).map(({ email }) => String(email)),
      body: rest,
      at: now,
      createdAt: now + aheadMs,
      sentAt: undefined,
      wasListed: false,
    };
    this.stored = [...this.stored, created];
    return sendImmediately === true ? this.#send(created, now) : created;
  }

  #send(envelope: Stored, now: number): Stored {
    const before = this.stored.find(
      ({ sentAt, emails }) => sentAt !== undefined && emails.some((email) => envelope.emails.includes(email)),
    );
    if (before) {
      const says = `${before.id} and ${envelope.id} were both sent to ${envelope.emails.join(', ')}`;
      this.violation ??= { kind: 'twice', says };
    }
    return this.#change(envelope, { status: 'SENT', sentAt: now });
  }

  #cancel(envelope: Stored): Stored {
    if (envelope.sentAt !== undefined)
      this.violation ??= { kind: 'canceled', says: `a process canceled ${envelope.id}, which had been sent` };
    return this.#change(envelope, { status: 'CANCELLED' });
  }

  #list(query: URLSearchParams, shown: ReadonlySet<string> | undefined): Answer {
    const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('pageSize') ?? 20)];
    const status = query.get('status');
    const items = this.stored
      .filter((one) => (shown?.has(one.id) ?? true) && (status === null || one.status === status))
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
    for (const { id, wasListed } of items)
      if (!wasListed)
        this.stored = this.stored.map((one) => (one.id === id ? { ...one, wasListed: true } : one));
    const pagination = {
      page,
      pageSize,
      total: items.length,
      totalPages: Math.ceil(items.length / pageSize),
    };
    const data = items.slice((page - 1) * pageSize, page * pageSize).map(textOf);
    return { status: 200, text: `{"data":[${data.join(',')}],"meta":${JSON.stringify({ pagination })}}` };
  }
}

/** Returns a function that computes a text only once for each envelope. */
function remembered(compute: (one: Stored) => unknown): (one: Stored) => string {
  const known = new WeakMap<Stored, string>();
  return (one) => {
    const text = known.get(one) ?? JSON.stringify(compute(one));
    known.set(one, text);
    return text;
  };
}

const keyOf = remembered((one) => one);

/** Returns an envelope as the service shows it. */
const textOf = remembered(({ id, status, body, createdAt, sentAt }) => ({
  ...body,
  id,
  status,
  createdAt: new Date(createdAt).toISOString(),
  sentAt: sentAt === undefined ? null : new Date(sentAt).toISOString(),
}));

function ok(status: number, envelope: Stored): Answer {
  return { status, text: `{"data":${textOf(envelope)}}` };
}

function refusal(status: number, code: string): Answer {
  return { status, text: JSON.stringify({ error: { code, message: `${code} (${status})` } }) };
}
