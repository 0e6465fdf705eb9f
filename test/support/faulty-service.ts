import type { ServerResponse } from 'node:http';
import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/resource-types.ts';
import { ServiceClock } from '../../src/api/service-clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { gateFor } from './recording.ts';
import { json, loseReply, startServer, type TestServer } from './server.ts';
import type { Behavior, Fate, Write } from './service-behavior.ts';

interface Stored {
  envelope: Envelope;
  /** When it was created, by the test's clock. */
  at: number;
  /** When its status changed, and what it was before. */
  changes: { at: number; from: Envelope }[];
}

export interface ServiceRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

export interface ServiceResponse {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** What the service was asked, in order. */
interface Step {
  what: Write['what'] | 'list' | 'get';
  at: number;
}

const RATE_LIMITED = { error: { code: 'RATE_LIMITED', message: 'wait' } };
const GAVE_UP = { error: { code: 'TIMED_OUT', message: 'The request took too long.' } };

/**
 * The service of tests whose faults the sandbox doesn't have: it behaves in every way that the API document allows, with the test's clock, and
 * counts emails. Clients reach it on a real socket, or call `answer`.
 */
export class FaultyService {
  behavior: Behavior;
  readonly stored: Stored[] = [];
  /** Invitations by envelope and address. */
  readonly emails: { envelopeId: string; email: string }[] = [];
  readonly steps: Step[] = [];
  readonly #clock: Clock;
  readonly #late: { at: number; work: () => void }[] = [];
  readonly #counts = { create: 0, send: 0, cancel: 0 };
  #server: TestServer | undefined;

  constructor(clock: Clock, behavior: Behavior = {}) {
    this.#clock = clock;
    this.behavior = behavior;
  }

  static async start(clock: Clock, behavior: Behavior = {}): Promise<FaultyService> {
    const service = new FaultyService(clock, behavior);
    service.#server = await startServer(async (request, response) => {
      const body = request.body === '' ? undefined : parseJson(request.body);
      const reply = await service.answer({ ...request, body });
      if (reply === undefined) loseReply(response);
      else send(response, reply);
    });
    return service;
  }

  get baseUrl(): string {
    return `${this.#server?.origin ?? 'http://127.0.0.1'}/api/v1`;
  }

  get seen() {
    return this.#server?.seen ?? [];
  }

  get envelopes(): Envelope[] {
    return this.stored.map(({ envelope }) => envelope);
  }

  /** A client whose writes are recorded in the log. */
  client(
    clock: Clock = this.#clock,
    memory: WriteMemory = new ProcessMemory(),
    options: Partial<Pick<ClientOptions, 'apiKey' | 'retries' | 'graceMs' | 'random'>> = {},
  ): Client {
    const serviceClock = new ServiceClock(clock);
    return createClient({
      serviceClock,
      gate: async () => gateFor(memory, this.baseUrl, clock, () => serviceClock.now()),
      baseUrl: this.baseUrl,
      apiKey: 'sk_test_0123456789',
      timeoutMs: 30_000,
      userAgent: 'esign-test',
      retries: 0,
      clock,
      ...options,
    });
  }

  /** Stores an envelope without a request of the test, which exists from a given time on. */
  put(facts: Partial<Envelope>, at = this.#clock.now()): Envelope {
    const envelope: Envelope = {
      id: this.behavior.idOf?.(this.stored.length + 1) ?? `env_${this.stored.length + 1}`,
      templateId: 'tmpl_1',
      status: 'DRAFT',
      signers: [],
      createdAt: new Date(this.#clock.now()).toISOString(),
      sentAt: null,
      ...facts,
    };
    this.stored.push({ envelope, at, changes: [] });
    if (envelope.status === 'SENT') this.#email(envelope);
    return envelope;
  }

  /** How often each address was invited, for any envelope. */
  emailsByAddress(): Record<string, number> {
    return countsOf(this.emails.map(({ email }) => email));
  }

  /** How often it was asked this. */
  asked(what: Step['what']): number {
    return this.steps.filter((step) => step.what === what).length;
  }

  /** The kinds of steps in their order, each once until another one follows. */
  phases(): Step['what'][] {
    const kinds = this.steps.map(({ what }) => what).filter((what) => what !== 'get');
    return kinds.filter((what, index) => what !== kinds[index - 1]);
  }

  /** The number of envelopes in each status. */
  statuses(): Record<string, number> {
    return countsOf(this.envelopes.map(({ status }) => status ?? ''));
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** Returns undefined if the response is lost. */
  async answer(request: ServiceRequest): Promise<ServiceResponse | undefined> {
    this.#processLate();
    const { dateSkewMs = 0, processingMs = 0 } = this.behavior;
    if (request.method !== 'GET' && processingMs > 0) await this.#clock.sleep(processingMs);
    const headers: Record<string, string> = {};
    if (dateSkewMs !== 'no header') headers.date = new Date(this.#clock.now() + dateSkewMs).toUTCString();
    const reply = request.method === 'GET' ? this.#read(request) : this.#fated(request);
    return reply && { ...reply, headers: { ...headers, ...reply.headers } };
  }

  /** A write, with what happens to it. */
  #fated(request: ServiceRequest): Reply | undefined {
    const [, , action] = ROUTE.exec(request.path) ?? [];
    const what = action === 'send' || action === 'cancel' ? action : 'create';
    this.steps.push({ what, at: this.#clock.now() });
    const nth = ++this.#counts[what];
    const number = this.#counts.create + this.#counts.send + this.#counts.cancel;
    const fate = this.behavior.fateOf?.({ path: request.path, what, number, nth }) ?? 'ok';
    if (fate === 'never came') return undefined;
    if (fate === 429) return { status: 429, body: RATE_LIMITED, headers: { 'retry-after': '60' } };
    if (typeof fate === 'object') return refusal(fate.refused, fate.code, `refused with ${fate.code}`);
    if (fate === 'late' || fate === 'late 504') {
      const at = this.#clock.now() + (this.behavior.lateMs ?? 0);
      this.#late.push({ at, work: () => void this.#write(request) });
      return fate === 'late' ? undefined : { status: 504, body: GAVE_UP };
    }
    return answered(fate, this.#write(request));
  }

  #processLate(): void {
    const due = this.#late.filter(({ at }) => at <= this.#clock.now());
    for (const one of due) {
      this.#late.splice(this.#late.indexOf(one), 1);
      one.work();
    }
  }

  #write({ path, body }: ServiceRequest): Reply {
    const target = ROUTE.exec(path);
    // Another run's sandbox may still deliver webhooks to a receiver that had this port.
    if (target === null) return { status: 404, body: {} };
    const [, escaped, action] = target;
    if (escaped === undefined) return { status: 201, body: { data: this.#create(body) } };
    const stored = this.#find(escaped);
    const status = stored?.envelope.status;
    const isWrong = action === 'send' ? status !== 'DRAFT' : status === 'CANCELLED';
    if (stored === undefined) return refusal(404, 'NOT_FOUND', 'no such envelope');
    if (isWrong) return refusal(400, 'INVALID_STATE', 'not in this status');
    if (action === 'send' && this.behavior.refusesSend)
      return refusal(402, 'QUOTA_EXCEEDED', 'no emails left');
    if (action === 'cancel') this.#change(stored, { status: 'CANCELLED' });
    if (action !== 'send') return { status: 200, body: { data: stored.envelope } };
    this.#send(stored);
    const shown = this.behavior.sentReply ?? stored.envelope.status;
    return { status: 200, body: { data: { ...stored.envelope, status: shown } } };
  }

  #create(body: unknown): Envelope {
    if (!isRecord(body) || !isList(body.signers)) throw new Error('not a create body');
    const { templateIn = (id) => id, createdSkewMs = 0, dateSkewMs = 0, onlyDrafts } = this.behavior;
    const skew = createdSkewMs + (dateSkewMs === 'no header' ? 0 : dateSkewMs);
    const number = this.stored.length + 1;
    const envelope = this.put({
      templateId: templateIn(String(body.templateId)),
      subject: typeof body.subject === 'string' ? body.subject : null,
      signers: body.signers.filter(isRecord).map((one, index) => ({
        id: `signer_${number}_${index}`,
        email: String(one.email),
        name: String(one.name),
        status: 'PENDING',
      })),
      metadata: this.#metadataOf(body.metadata),
      createdAt: new Date(this.#clock.now() + skew).toISOString(),
    });
    const stored = this.stored.at(-1);
    if (body.sendImmediately === true && !onlyDrafts && stored) this.#send(stored);
    return envelope;
  }

  #metadataOf(metadata: unknown): Record<string, unknown> {
    const { keys = 'kept', textIn = (text) => text } = this.behavior;
    if (!isRecord(metadata) || keys === 'dropped') return {};
    return Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [
        keys === 'kept' ? key : key.toLowerCase(),
        typeof value === 'string' ? textIn(value) : value,
      ]),
    );
  }

  #send(stored: Stored): void {
    this.#change(stored, { status: 'SENT', sentAt: new Date(this.#clock.now()).toISOString() });
    this.#email(stored.envelope);
  }

  #change({ envelope, changes }: Stored, facts: Partial<Envelope>): void {
    changes.push({ at: this.#clock.now(), from: { ...envelope } });
    Object.assign(envelope, facts);
  }

  #email({ id, signers }: Envelope): void {
    for (const { email } of signers ?? []) this.emails.push({ envelopeId: id, email: email ?? '' });
  }

  #find(escaped: string): Stored | undefined {
    return this.stored.find(({ envelope }) => envelope.id === decodeURIComponent(escaped));
  }

  #read({ path, query }: ServiceRequest): Reply {
    if (path.includes('/esign/templates')) return { status: 200, body: { data: [] } };
    const id = ROUTE.exec(path)?.[1];
    const { listLagMs = 0, getLagMs = 0, order = 'newest-first' } = this.behavior;
    this.steps.push({ what: id === undefined ? 'list' : 'get', at: this.#clock.now() });
    if (id !== undefined) {
      const found = this.#find(id);
      const isFound = found !== undefined && found.at + getLagMs <= this.#clock.now();
      if (isFound) return { status: 200, body: { data: found.envelope } };
      return refusal(404, 'NOT_FOUND', 'no such envelope');
    }
    const [page, size] = [Number(query.get('page')), Number(query.get('pageSize') ?? 100)];
    const asOf = this.#clock.now() - listLagMs;
    const items = this.stored.filter(({ at }) => at <= asOf).map((one) => this.#listed(one, asOf));
    if (order === 'newest-first') items.reverse();
    if (order === 'id') items.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    const totalPages = Math.ceil(items.length / size);
    const pagination = { page, pageSize: size, total: items.length, totalPages };
    const data = items.slice((page - 1) * size, page * size);
    return { status: 200, body: { data, meta: { pagination } } };
  }

  #listed({ envelope, changes }: Stored, asOf: number): Record<string, unknown> {
    const { metadata, ...item } = changes.find(({ at }) => at > asOf)?.from ?? envelope;
    const { listMetadata = 'shown', emptyFor = [] } = this.behavior;
    if (emptyFor.includes(item.id)) return { ...item, metadata: {} };
    if (listMetadata === 'missing') return item;
    return { ...item, metadata: listMetadata === 'shown' ? metadata : listMetadata === 'null' ? null : {} };
  }
}

type Reply = Omit<ServiceResponse, 'headers'> & { headers?: Record<string, string> };

const ROUTE = /\/esign\/envelopes(?:\/([^/]+))?(?:\/(\w+))?$/;

function refusal(status: number, code: string, message: string): Reply {
  return { status, body: { error: { code, message } } };
}

/** Returns the response to a request that was processed. */
function answered(
  fate: Exclude<Fate, 'late' | 'late 504' | 'never came' | 429 | object>,
  reply: Reply,
): Reply | undefined {
  if (fate === 'ok') return reply;
  if (fate === 'lost') return undefined;
  if (fate === 'no body') return { status: 204, body: undefined };
  return fate === 'no envelope' ? { status: 202, body: { data: {} } } : { status: fate, body: GAVE_UP };
}

function send(response: ServerResponse, reply: ServiceResponse): void {
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
  if (reply.status === 204) response.writeHead(204).end();
  else json(response, reply.status, reply.body);
}

function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
