import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../src/api/client.ts';
import type { Mode, RunEntry } from '../../src/bulk/entries.ts';
import { NewRows } from '../../src/bulk/lookup/earlier-rows.ts';
import { findIdentifiedRows } from '../../src/bulk/lookup/identified-rows.ts';
import { groupKnownRows, knownEntries } from '../../src/bulk/lookup/known-rows.ts';
import { type RowResult, resultsOf } from '../../src/bulk/results.ts';
import { processRun, type RunEnding } from '../../src/bulk/run.ts';
import type { RunOptions } from '../../src/bulk/run-session.ts';
import { draftRun, type OpenRun, openRun } from '../../src/bulk/runs.ts';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { clientFor } from '../support/client.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { gateFor, memoryOf } from '../support/recording.ts';
import { json, loseReply, type SeenRequest, startServer, type TestServer } from '../support/server.ts';

export interface Stored {
  id: string;
  templateId: string;
  status: string;
  createdAt: string;
  sentAt: string | null;
  metadata: Record<string, unknown>;
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

/** A service that records its envelopes and how often each was emailed. */
class Service {
  readonly stored: Stored[] = [];
  readonly mails = new Map<string, number>();
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
    const row = String(stored.metadata.esignRow ?? stored.id);
    this.mails.set(row, (this.mails.get(row) ?? 0) + 1);
  }

  statuses(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status } of this.stored) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
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
    const fault = this.behavior.create?.(number);
    if (fault !== undefined && fault !== 'lose') return refusal(fault);
    const body = parseJson(request.body);
    const metadata = isRecord(body) && isRecord(body.metadata) ? this.#kept(body.metadata) : {};
    const listedFrom = this.clock.now() + (this.behavior.lagMs ?? 0);
    const stored = this.put({ metadata, listedFrom });
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
    const fault = this.behavior.send?.(number);
    if (fault !== undefined && fault !== 'lose') return refusal(fault);
    if (found.status !== 'DRAFT') return failure(400, 'INVALID_STATE');
    this.mail(found);
    return fault === 'lose' ? undefined : { status: 200, body: { data: found } };
  }

  #cancel(found: Stored): Reply | undefined {
    const fault = this.behavior.cancel?.(++this.counts.cancels);
    if (fault !== undefined && fault !== 'lose') return refusal(fault);
    found.status = 'CANCELLED';
    return fault === 'lose' ? undefined : { status: 200, body: { data: found } };
  }

  #list(request: SeenRequest): Reply {
    const fault = this.behavior.list?.(++this.counts.lists);
    if (fault !== undefined) return refusal(fault);
    const page = Number(request.query.get('page'));
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

export interface Worked {
  ending: RunEnding;
  results: RowResult[];
  notices: string[];
  reported: RowResult[];
}

/** Runs in the test's own folder. */
export class Runs {
  readonly service = new Service();
  readonly #begun = new Map<string, OpenRun>();
  root = '';
  client: Client | undefined;

  async open(): Promise<void> {
    this.root = await mkdtemp(join(tmpdir(), 'esign-bulk-'));
    this.client = await this.service.start(this.memory);
  }

  async close(): Promise<void> {
    for (const run of this.#begun.values()) await run.close();
    await this.service.server?.close();
    await rm(this.root, { recursive: true, force: true });
  }

  /** A run of this many rows that has just begun, or that was killed after these entries. */
  async begin(
    rows: number,
    mode: Mode,
    options: { entries?: RunEntry[]; requestIds?: boolean } = {},
  ): Promise<string> {
    const draft = await draftRun(this.root, this.service.clock.now());
    const wanted = new NewRows(true);
    for (let row = 1; row <= rows; row++) {
      const one = {
        row,
        line: row + 1,
        content: `content-${row}`,
        cells: `cells-${row}`,
        ...(options.requestIds ? { requestId: `own-${row}` } : {}),
        envelope: { templateId: 'tmpl_1', signers: [{ email: `s${row}@example.com`, name: `S ${row}` }] },
      };
      wanted.add(one);
      await draft.add(one);
    }
    if (this.client === undefined) throw new Error('not open');
    // As `bulk create` does before it asks for confirmation.
    const found = await findIdentifiedRows(this.client, this.memory, wanted, new Map());
    const known = groupKnownRows(found.values(), mode);
    const run = await draft.start(
      {
        at: this.service.clock.now(),
        file: 'rows.csv',
        total: rows,
        mode,
        baseUrl: this.client.baseUrl,
        profile: null,
        ownRequestIds: options.requestIds ? rows : 0,
        source: { format: 'csv', encoding: 'utf-8' },
      },
      knownEntries(known),
    );
    for (const entry of options.entries ?? []) await run.note(entry);
    // A run with entries was killed: the next process opens it.
    if (options.entries === undefined) this.#begun.set(draft.id, run);
    else await run.close();
    return draft.id;
  }

  /** The run that this process began, or that another process would open. */
  async take(id: string): Promise<OpenRun> {
    const run = this.#begun.get(id) ?? (await openRun(this.root, id));
    this.#begun.delete(id);
    return run;
  }

  /** The log on this machine. */
  get memory(): WriteMemory {
    return memoryOf(this.root, this.service.clock);
  }

  /** Works on a run in the process that began it. Later calls work like other processes. */
  async work(id: string, options: Partial<RunOptions> = {}): Promise<Worked> {
    const run = await this.take(id);
    const notices: string[] = [];
    const reported: RowResult[] = [];
    if (this.client === undefined) throw new Error('not open');
    try {
      const ending = await processRun(run, {
        client: this.client,
        memory: this.memory,
        concurrency: 4,
        signal: new AbortController().signal,
        redact: (text) => text,
        observer: { row: (result) => void reported.push(result), notice: (text) => void notices.push(text) },
        ...options,
      });
      return { ending, results: await allResults(run), notices, reported };
    } finally {
      await run.close();
    }
  }
}

/** Undefined if the rows can't be read. */
async function allResults(run: OpenRun): Promise<RowResult[]> {
  const results: RowResult[] = [];
  try {
    for await (const result of resultsOf(run.state, run.files)) results.push(result);
  } catch {
    return [];
  }
  return results;
}
