import type { Client } from '../../src/api/client.ts';
import { withRetries } from '../../src/api/client.ts';
import type { HttpRequest, SendRequest } from '../../src/api/http.ts';
import { createResources } from '../../src/api/resources.ts';
import type { HttpResponse } from '../../src/api/response.ts';
import { ServiceClock } from '../../src/api/service-clock.ts';
import { openGate } from '../../src/api/write-gate.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { NetworkError, ServiceError } from '../../src/kernel/errors.ts';
import { isRecord } from '../../src/kernel/json.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { gateFor } from './recording.ts';

/** The address that the service's records carry. */
export const BASE_URL = 'http://127.0.0.1/api/v1';

/** The faults of a service during a whole campaign. */
export interface Habits {
  /** A list is this old, in ms. */
  lagMs: number;
  /** The metadata in list items. */
  metadata: 'whole' | 'null' | 'empty' | 'absent';
  order: 'newest' | 'oldest' | 'id';
  /** The difference between `createdAt` and the service's own time, in ms. */
  createdSkewMs: number;
  /** Responses have a Date header. */
  tellsTime: boolean;
}

interface Stored {
  id: string;
  row: string;
  metadata: Record<string, unknown>;
  createdAt: number;
  /** Its statuses, each with its start time. */
  history: { status: string; at: number }[];
  signers: unknown;
  templateId: unknown;
}

/** The outcome of one request. */
export type Fate = 'whole' | 'lost' | 'refused' | 'killed' | { status: number };

/** An e-signature service in memory, with its own clock. Only the requests that it processed count. */
export class BulkService {
  readonly stored: Stored[] = [];
  /** How often each row's signer was emailed. */
  readonly emails = new Map<string, number>();
  time = Date.UTC(2026, 0, 2, 3, 4, 5);
  habits: Habits;

  constructor(habits: Habits) {
    this.habits = habits;
  }

  emailedTwice(): string[] {
    return [...this.emails].filter(([, count]) => count > 1).map(([row, count]) => `${row}: ${count}`);
  }

  drafts(): Stored[] {
    return this.stored.filter((one) => statusOf(one) === 'DRAFT');
  }

  /** A client of one process. `fate` decides on each write; `clock` is that machine's. */
  client(clock: Clock, fate: (request: HttpRequest) => Fate | Promise<Fate>, memory?: WriteMemory): Client {
    const serviceClock = new ServiceClock(clock, () => clock.now());
    const exchange: SendRequest = async (request) => {
      await Promise.resolve();
      request.signal?.throwIfAborted();
      this.time += 7;
      await request.beforeAttempt?.();
      request.onSend?.();
      const what = await fate(request);
      if (what === 'killed') throw new Error('killed');
      if (what === 'refused') throw serviceError(503);
      const reply = this.#answer(request);
      if (this.habits.tellsTime) serviceClock.update({ date: new Date(this.time).toUTCString() });
      if (what === 'lost') throw lostReply();
      if (what !== 'whole') throw serviceError(what.status);
      return reply;
    };
    const send = withRetries(exchange, { clock, random: () => 0.5, retries: 3, maxWaitMs: 60_000 });
    const open = memory === undefined ? openGate : gateFor(memory, BASE_URL, clock, () => serviceClock.now());
    const gate = open(send, 'account');
    const sendGated: SendRequest = (request) =>
      request.method === 'GET' ? send(request) : gate.pass(request);
    return {
      baseUrl: BASE_URL,
      account: 'account',
      timeoutMs: 30_000,
      ...createResources(sendGated),
      send: sendGated,
      writes: () => Promise.resolve(gate),
      checkWrites: gate.check,
      clock,
      serviceClock,
      graceMs: 0,
      window: undefined,
    };
  }

  #answer({ method, path, query, body }: HttpRequest): HttpResponse {
    const [, id, action] = /^\/esign\/envelopes(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
    if (path.includes('/templates')) return ok([]);
    if (id === undefined) return method === 'POST' ? this.#create(body) : this.#list(Number(query?.page));
    const found = this.stored.find((one) => one.id === id);
    if (found === undefined) throw serviceError(404, 'NOT_FOUND');
    if (action === 'send') this.#move(found, 'SENT');
    if (action === 'cancel') this.#move(found, 'CANCELLED');
    return ok(this.#shown(found, this.time));
  }

  #create(body: unknown): HttpResponse {
    const { metadata, signers, templateId, sendImmediately } = isRecord(body) ? body : {};
    const stored: Stored = {
      id: `env_${String(this.stored.length + 1).padStart(5, '0')}`,
      row: keyOf(signers),
      metadata: isRecord(metadata) ? metadata : {},
      createdAt: this.time,
      history: [{ status: 'DRAFT', at: this.time }],
      signers,
      templateId,
    };
    this.stored.push(stored);
    if (sendImmediately === true) this.#move(stored, 'SENT');
    return ok(this.#shown(stored, this.time), 201);
  }

  #move(stored: Stored, status: 'SENT' | 'CANCELLED'): void {
    const from = statusOf(stored);
    if (status === 'SENT' && from !== 'DRAFT') throw serviceError(400, 'INVALID_STATE');
    if (from === 'CANCELLED') throw serviceError(400, 'INVALID_STATE');
    stored.history.push({ status, at: this.time });
    if (status === 'SENT') this.emails.set(stored.row, (this.emails.get(stored.row) ?? 0) + 1);
  }

  #list(page: number): HttpResponse {
    const { lagMs, order, metadata } = this.habits;
    const asOf = this.time - lagMs;
    const listed = this.stored.filter(({ createdAt }) => createdAt <= asOf);
    if (order === 'newest') listed.reverse();
    if (order === 'id') listed.sort((a, b) => (hashed(a.id) < hashed(b.id) ? -1 : 1));
    const data = listed.slice((page - 1) * 100, page * 100).map((one) => {
      const { metadata: whole, ...rest } = this.#shown(one, asOf);
      if (metadata === 'absent') return rest;
      return { ...rest, metadata: { whole, null: null, empty: {} }[metadata] };
    });
    const totalPages = Math.max(1, Math.ceil(listed.length / 100));
    const pagination = { page, pageSize: 100, total: listed.length, totalPages };
    return { status: 200, body: { data, meta: { pagination } }, rate: NO_RATE };
  }

  #shown(one: Stored, asOf: number) {
    const sent = one.history.find(({ status, at }) => status === 'SENT' && at <= asOf);
    return {
      id: one.id,
      templateId: one.templateId,
      status: one.history.filter(({ at }) => at <= asOf).at(-1)?.status ?? 'DRAFT',
      createdAt: new Date(one.createdAt + this.habits.createdSkewMs).toISOString(),
      sentAt: sent === undefined ? null : new Date(sent.at).toISOString(),
      signers: one.signers,
      metadata: one.metadata,
    };
  }
}

const NO_RATE = { limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined };

function ok(data: unknown, status = 200): HttpResponse {
  return { status, body: { data }, rate: NO_RATE };
}

function statusOf(stored: Stored): string {
  return stored.history.at(-1)?.status ?? '';
}

/** The row of a signer: in a campaign, each row has a different signer. */
function keyOf(signers: unknown): string {
  const first: unknown = Array.isArray(signers) ? signers[0] : undefined;
  return isRecord(first) ? String(first.email) : '';
}

function hashed(id: string): number {
  return [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_973, 7);
}

function lostReply(): NetworkError {
  return new NetworkError('NETWORK', 'The connection was closed.', { maybeReceived: true });
}

function serviceError(status: number, code = 'UNAVAILABLE'): ServiceError {
  return new ServiceError(code, `refused with ${status}`, { status });
}
