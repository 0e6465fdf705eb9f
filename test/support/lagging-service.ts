import type { ServerResponse } from 'node:http';
import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/schemas.ts';
import { ServiceClock } from '../../src/api/service-clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { gateFor } from './recording.ts';
import { json, loseReply, type SeenRequest, startServer, type TestServer } from './server.ts';

/**
 * The outcome of a write. `late`: the response is lost, and the request is processed after `lateMs`. `late 504`: so does a gateway that
 * gives up. 429 creates nothing. `no body` and `no envelope` are responses that report a success only.
 */
export type Fate =
  | 'ok'
  | 'lost'
  | 'never came'
  | 'late'
  | 'late 504'
  | 'no body'
  | 'no envelope'
  | 408
  | 429
  | 499
  | 500;

/** Variants of a service that don't contradict the API document. */
export interface Behavior {
  /** A created envelope appears in the list after this time, in ms. */
  listLagMs?: number;
  lateMs?: number;
  /** The time from a write to its processing and response, in ms. */
  processingMs?: number;
  /** Metadata in list items. */
  listMetadata?: 'shown' | 'null' | 'empty' | 'missing';
  /** Changes to metadata keys everywhere. */
  keys?: 'kept' | 'lower-cased' | 'dropped';
  /** Changes to texts in metadata. */
  textIn?: (text: string) => unknown;
  /** A created envelope is found by its ID after this time, in ms. */
  getLagMs?: number;
  /** The service ignores `sendImmediately`. */
  onlyDrafts?: boolean;
  idOf?: (number: number) => string;
  refusesSend?: boolean;
  /** The status in the response to a send. */
  sentReply?: string;
  order?: 'newest-first' | 'oldest-first' | 'id';
  /** How far the Date header is ahead of the clock, and `createdAt` ahead of the Date header, in ms. */
  dateSkewMs?: number | 'no header';
  createdSkewMs?: number;
  /** How the service spells the template of an envelope. */
  templateIn?: (templateId: string) => string;
  /** The outcome of each write, counted from 1. */
  fateOf?: (request: { path: string; number: number }) => Fate;
}

interface Stored {
  envelope: Envelope;
  /** When it was created, by the test's clock. */
  at: number;
}

const RATE_LIMITED = { error: { code: 'RATE_LIMITED', message: 'wait' } };
const GAVE_UP = { error: { code: 'TIMED_OUT', message: 'The request took too long.' } };

/** A service with every behavior that the API document allows, on a real socket and with the test's clock. It counts emails. */
export class LaggingService {
  readonly behavior: Behavior;
  readonly stored: Stored[] = [];
  /** Invitations by envelope and address. */
  readonly emails: { envelopeId: string; email: string }[] = [];
  readonly #clock: Clock;
  readonly #server: TestServer;
  readonly #late: { at: number; work: () => void }[] = [];
  #writes = 0;

  private constructor(server: TestServer, clock: Clock, behavior: Behavior) {
    this.#server = server;
    this.#clock = clock;
    this.behavior = behavior;
  }

  static async start(clock: Clock, behavior: Behavior = {}): Promise<LaggingService> {
    const server = await startServer((request, response) => void service.#answer(request, response));
    const service = new LaggingService(server, clock, behavior);
    return service;
  }

  get baseUrl(): string {
    return `${this.#server.origin}/api/v1`;
  }

  get seen(): readonly SeenRequest[] {
    return this.#server.seen;
  }

  /** A client whose writes are recorded in the log. */
  client(
    clock: Clock = this.#clock,
    memory: WriteMemory = new ProcessMemory(),
    options: Partial<Pick<ClientOptions, 'apiKey' | 'retries' | 'graceMs'>> = {},
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

  /** How often each address was invited, for any envelope. */
  emailsByAddress(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { email } of this.emails) counts[email] = (counts[email] ?? 0) + 1;
    return counts;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(request: SeenRequest, response: ServerResponse): Promise<unknown> {
    this.#processLate();
    const { dateSkewMs = 0, processingMs = 0 } = this.behavior;
    if (request.method !== 'GET' && processingMs > 0) await this.#clock.sleep(processingMs);
    if (dateSkewMs !== 'no header')
      response.setHeader('date', new Date(this.#clock.now() + dateSkewMs).toUTCString());
    if (request.method === 'GET') return this.#read(request, response);
    const fate = this.behavior.fateOf?.({ path: request.path, number: ++this.#writes }) ?? 'ok';
    if (fate === 'never came') return loseReply(response);
    if (fate === 429) return json(response, 429, RATE_LIMITED, { 'retry-after': '60' });
    if (fate === 'late' || fate === 'late 504') {
      this.#late.push({
        at: this.#clock.now() + (this.behavior.lateMs ?? 0),
        work: () => void this.#write(request),
      });
      return fate === 'late' ? loseReply(response) : json(response, 504, GAVE_UP);
    }
    return this.#done(fate, this.#write(request), response);
  }

  /** Answers a request that was processed. */
  #done(
    fate: Exclude<Fate, 'never came' | 'late' | 'late 504'>,
    { status, body }: { status: number; body: unknown },
    response: ServerResponse,
  ): unknown {
    if (fate === 'ok') return json(response, status, body);
    if (fate === 'lost') return loseReply(response);
    if (fate === 'no body') return response.writeHead(204).end();
    if (fate === 'no envelope') return json(response, 202, { data: {} });
    return json(response, fate, GAVE_UP);
  }

  #processLate(): void {
    const due = this.#late.filter(({ at }) => at <= this.#clock.now());
    for (const one of due) {
      this.#late.splice(this.#late.indexOf(one), 1);
      one.work();
    }
  }

  #write({ path, body: text }: SeenRequest): { status: number; body: unknown } {
    const target = /\/esign\/envelopes(?:\/([^/]+)\/(\w+))?$/.exec(path);
    // Another run's sandbox may still deliver webhooks to a receiver that had this port.
    if (target === null) return { status: 404, body: {} };
    const [, escaped, action] = target;
    if (escaped === undefined) return { status: 201, body: { data: this.#create(parseJson(text)) } };
    const id = decodeURIComponent(escaped);
    const envelope = this.stored.find((one) => one.envelope.id === id)?.envelope;
    const isWrong = action === 'send' ? envelope?.status !== 'DRAFT' : envelope?.status === 'CANCELLED';
    if (envelope === undefined || isWrong)
      return { status: 400, body: { error: { code: 'INVALID_STATE', message: 'not in this status' } } };
    if (action === 'cancel') envelope.status = 'CANCELLED';
    if (action === 'send' && this.behavior.refusesSend)
      return { status: 402, body: { error: { code: 'QUOTA_EXCEEDED', message: 'no emails left' } } };
    if (action === 'send') {
      this.#send(envelope);
      return {
        status: 200,
        body: { data: { ...envelope, status: this.behavior.sentReply ?? envelope.status } },
      };
    }
    return { status: 200, body: { data: envelope } };
  }

  #create(body: unknown): Envelope {
    if (!isRecord(body) || !isList(body.signers)) throw new Error('not a create body');
    const { templateIn = (id) => id, idOf = (number) => `env_${number}` } = this.behavior;
    const { createdSkewMs = 0, dateSkewMs = 0, onlyDrafts = false } = this.behavior;
    const skew = createdSkewMs + (dateSkewMs === 'no header' ? 0 : dateSkewMs);
    const number = this.stored.length + 1;
    const envelope: Envelope = {
      id: idOf(number),
      templateId: templateIn(String(body.templateId)),
      status: 'DRAFT',
      subject: typeof body.subject === 'string' ? body.subject : null,
      signers: body.signers.filter(isRecord).map((one, index) => ({
        id: `signer_${number}_${index}`,
        email: String(one.email),
        name: String(one.name),
        status: 'PENDING',
      })),
      metadata: this.#metadataOf(body.metadata),
      createdAt: new Date(this.#clock.now() + skew).toISOString(),
      sentAt: null,
    };
    this.stored.push({ envelope, at: this.#clock.now() });
    if (body.sendImmediately === true && !onlyDrafts) this.#send(envelope);
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

  #send(envelope: Envelope): void {
    envelope.status = 'SENT';
    envelope.sentAt = new Date(this.#clock.now()).toISOString();
    for (const { email } of envelope.signers ?? [])
      this.emails.push({ envelopeId: envelope.id, email: email ?? '' });
  }

  #read({ path, query }: SeenRequest, response: ServerResponse): unknown {
    const id = /\/esign\/envelopes\/([^/]+)$/.exec(path)?.[1];
    const { listLagMs = 0, getLagMs = 0, order = 'newest-first' } = this.behavior;
    if (id !== undefined) {
      const found = this.stored.find(
        ({ envelope, at }) => envelope.id === decodeURIComponent(id) && at + getLagMs <= this.#clock.now(),
      );
      if (found) return json(response, 200, { data: found.envelope });
      return json(response, 404, { error: { code: 'NOT_FOUND', message: 'no such envelope' } });
    }
    const [page, size] = [Number(query.get('page')), Number(query.get('pageSize'))];
    const items = this.stored
      .filter(({ at }) => at + listLagMs <= this.#clock.now())
      .map(({ envelope }) => this.#listed(envelope));
    if (order === 'newest-first') items.reverse();
    if (order === 'id') items.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    const pagination = {
      page,
      pageSize: size,
      total: items.length,
      totalPages: Math.ceil(items.length / size),
    };
    return json(response, 200, { data: items.slice((page - 1) * size, page * size), meta: { pagination } });
  }

  #listed({ metadata, ...item }: Envelope): Record<string, unknown> {
    const { listMetadata = 'shown' } = this.behavior;
    if (listMetadata === 'missing') return item;
    return { ...item, metadata: listMetadata === 'shown' ? metadata : listMetadata === 'null' ? null : {} };
  }
}
