import type { ServerResponse } from 'node:http';
import type { Client } from '../../src/api/client.ts';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { clientFor } from '../support/client.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { gateFor } from '../support/recording.ts';
import { json, loseReply, type SeenRequest, startServer, type TestServer } from '../support/server.ts';

export interface Stored {
  id: string;
  templateId: string;
  status: string;
  createdAt: string;
  sentAt: string | null;
  metadata: Record<string, unknown>;
  signers: { email: string; name: string }[];
  /** The list shows it from this time (ms). */
  listedFrom: number;
}

/** How a request fails: `lose`: processed, and the response is lost; `refuse`: not processed, and a 503. */
export type Fault = 'lose' | 'refuse' | { status: number; code: string } | undefined;

export interface Behavior {
  create?: (number: number) => Fault;
  send?: (number: number) => Fault;
  cancel?: (number: number) => Fault;
  /** Only `refuse` and refusals: reads can be repeated. */
  list?: (number: number) => Exclude<Fault, 'lose'>;
  /** List items have no metadata. */
  summary?: boolean;
  /** The list shows empty metadata for these envelopes. */
  empty?: readonly string[];
  /** The service doesn't keep metadata. */
  forgets?: boolean;
  /** The service changes the case of metadata keys. */
  lowerCase?: boolean;
  /** New envelopes are listed this many ms later. */
  lagMs?: number;
}

/** What a run did, in the order in which the service processed it. */
export interface Step {
  what: 'create' | 'list' | 'send' | 'cancel';
  at: number;
}

/** A service that records its envelopes and how often each was emailed. */
export class RowService {
  readonly stored: Stored[] = [];
  /** How often each address was asked to sign. */
  readonly mails = new Map<string, number>();
  readonly steps: Step[] = [];
  readonly counts = { creates: 0, sends: 0, lists: 0, looks: 0, cancels: 0, gets: 0 };
  behavior: Behavior = {};
  readonly clock: FakeClock = fakeClock();
  server: TestServer | undefined;

  async start(memory: WriteMemory): Promise<Client> {
    this.server = await startServer((request, response) => this.#answer(request, response));
    const { origin } = this.server;
    const gate = async () => gateFor(memory, `${origin}/api/v1`, this.clock);
    return clientFor(origin, { clock: this.clock, retries: 1, gate });
  }

  /** An envelope that exists without a request of the test. */
  put(facts: Partial<Stored> & Pick<Stored, 'metadata'>): Stored {
    const stored: Stored = {
      id: `env_${this.stored.length + 1}`,
      templateId: 'tmpl_1',
      status: 'DRAFT',
      createdAt: new Date(this.clock.now()).toISOString(),
      sentAt: null,
      signers: [],
      listedFrom: 0,
      ...facts,
    };
    this.stored.push(stored);
    if (stored.status === 'SENT') this.mail(stored);
    return stored;
  }

  mail(stored: Stored): void {
    stored.status = 'SENT';
    stored.sentAt = new Date(this.clock.now()).toISOString();
    const [{ email } = { email: stored.id }] = stored.signers;
    this.mails.set(email, (this.mails.get(email) ?? 0) + 1);
  }

  statuses(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status } of this.stored) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  /** The kinds of steps in their order, each once until another one follows. */
  phases(): Step['what'][] {
    return this.steps.map(({ what }) => what).filter((what, index, all) => what !== all[index - 1]);
  }

  #note(what: Step['what']): void {
    this.steps.push({ what, at: this.clock.now() });
  }

  #answer(request: SeenRequest, response: ServerResponse): void {
    const { status, body } = this.#replyTo(request) ?? { status: 0, body: undefined };
    if (status === 0) loseReply(response);
    else json(response, status, body);
  }

  /** Undefined if the response is lost. */
  #replyTo(request: SeenRequest): Reply | undefined {
    const [, id, action] = /^\/api\/v1\/esign\/envelopes(?:\/([^/]+))?(?:\/(\w+))?$/.exec(request.path) ?? [];
    if (request.path.includes('/templates')) return { status: 200, body: { data: [] } };
    if (id === undefined) return request.method === 'POST' ? this.#create(request) : this.#list(request);
    if (request.method === 'GET') this.counts.gets++;
    const found = this.stored.find((one) => one.id === id);
    if (found === undefined) return failure(404, 'NOT_FOUND');
    if (action === 'send') return this.#send(found);
    if (action === 'cancel') return this.#cancel(found);
    return { status: 200, body: { data: found } };
  }

  #create(request: SeenRequest): Reply | undefined {
    const number = ++this.counts.creates;
    this.#note('create');
    const fault = this.behavior.create?.(number);
    if (fault !== undefined && fault !== 'lose') return refusal(fault);
    const body = parseJson(request.body);
    const metadata = isRecord(body) && isRecord(body.metadata) ? this.#kept(body.metadata) : {};
    const listedFrom = this.clock.now() + (this.behavior.lagMs ?? 0);
    const signers = signersIn(body);
    const templateId = isRecord(body) ? String(body.templateId) : '';
    const stored = this.put({ metadata, signers, templateId, listedFrom });
    if (isRecord(body) && body.sendImmediately === true) this.mail(stored);
    return fault === 'lose' ? undefined : { status: 201, body: { data: stored } };
  }

  #kept(metadata: Record<string, unknown>): Record<string, unknown> {
    if (this.behavior.forgets) return {};
    if (!this.behavior.lowerCase) return metadata;
    return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key.toLowerCase(), value]));
  }

  #send(found: Stored): Reply | undefined {
    const number = ++this.counts.sends;
    this.#note('send');
    const fault = this.behavior.send?.(number);
    if (fault !== undefined && fault !== 'lose') return refusal(fault);
    if (found.status !== 'DRAFT') return failure(400, 'INVALID_STATE');
    this.mail(found);
    return fault === 'lose' ? undefined : { status: 200, body: { data: found } };
  }

  #cancel(found: Stored): Reply | undefined {
    this.#note('cancel');
    const fault = this.behavior.cancel?.(++this.counts.cancels);
    if (fault !== undefined && fault !== 'lose') return refusal(fault);
    found.status = 'CANCELLED';
    return fault === 'lose' ? undefined : { status: 200, body: { data: found } };
  }

  #list(request: SeenRequest): Reply {
    const fault = this.behavior.list?.(++this.counts.lists);
    if (fault !== undefined) return refusal(fault);
    const page = Number(request.query.get('page'));
    this.#note('list');
    if (page === 1) this.counts.looks++;
    const listed = this.stored.filter(({ listedFrom }) => listedFrom <= this.clock.now()).reverse();
    const items = listed.slice((page - 1) * 100, page * 100);
    const { summary, empty } = this.behavior;
    const data = items.map(({ metadata, ...rest }) =>
      summary ? rest : { ...rest, metadata: empty?.includes(rest.id) ? {} : metadata },
    );
    const totalPages = Math.max(1, Math.ceil(listed.length / 100));
    return {
      status: 200,
      body: { data, meta: { pagination: { page, pageSize: 100, total: listed.length, totalPages } } },
    };
  }
}

function signersIn(body: unknown): Stored['signers'] {
  const signers = isRecord(body) && isList(body.signers) ? body.signers : [];
  return signers.filter(isRecord).map(({ email, name }) => ({ email: String(email), name: String(name) }));
}

interface Reply {
  status: number;
  body: unknown;
}

function refusal(fault: Exclude<Fault, 'lose' | undefined>): Reply {
  return fault === 'refuse' ? failure(503, 'UNAVAILABLE') : failure(fault.status, fault.code);
}

function failure(status: number, code: string): Reply {
  return { status, body: { error: { code, message: `refused with ${code}` } } };
}
