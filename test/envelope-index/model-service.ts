import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/schemas.ts';
import { EnvelopeIndex } from '../../src/envelope-index/envelope-index.ts';
import { Feed } from '../../src/envelope-index/feed.ts';
import { indexPath } from '../../src/envelope-index/index-writer.ts';
import { queryIndex } from '../../src/envelope-index/query.ts';
import { selectionFilter } from '../../src/envelopes/select.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Criteria, selectionOf } from '../support/selection.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

/** Options for what the API document leaves open. */
export interface Reading {
  order: 'newest-first' | 'oldest-first' | 'none';
  items: 'whole' | 'summary';
  /** Whether lists report a total. */
  counts: boolean;
}

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

/** A service on a real socket, with envelopes that a test creates and changes as it likes. */
export class ModelService {
  readonly envelopes = new Map<string, Envelope>();
  readonly reading: Reading;
  readonly #server: TestServer;
  /** The service's clock: it advances a minute with each new envelope. */
  #time = START;
  #made = 0;

  private constructor(server: TestServer, reading: Reading) {
    this.#server = server;
    this.reading = reading;
  }

  static async start(reading: Partial<Reading> = {}): Promise<ModelService> {
    const server = await startServer((request, response) => {
      const date = { date: new Date(service.#time).toUTCString() };
      const [id] = request.path.split('/esign/envelopes/').slice(1);
      if (id === undefined) return json(response, 200, service.#page(request.query), date);
      const one = service.envelopes.get(id);
      if (one) return json(response, 200, { data: one }, date);
      return json(response, 404, { error: { code: 'NOT_FOUND', message: 'no such envelope' } }, date);
    });
    const service = new ModelService(server, {
      order: 'newest-first',
      items: 'whole',
      counts: true,
      ...reading,
    });
    return service;
  }

  /** Requests so far. */
  get requests(): number {
    return this.#server.seen.length;
  }

  client(onEnvelope?: ClientOptions['onEnvelope']): Client {
    return createClient({
      onEnvelope,
      baseUrl: `${this.#server.origin}/api/v1`,
      apiKey: 'sk_test_0123456789',
      timeoutMs: 30_000,
      userAgent: 'esign-test',
      clock: systemClock,
    });
  }

  /** A new envelope, created by somebody else. */
  make(facts: Partial<Envelope> = {}): Envelope {
    const n = this.#made++;
    this.#time += MINUTE;
    const envelope: Envelope = {
      id: `env_${n}`,
      status: 'SENT',
      subject: `Contract ${1_000 + n}`,
      templateId: 'tmpl_lease',
      templateName: 'Lease',
      metadata: { deal: `D-${n}` },
      signers: [{ id: `s_${n}`, name: `Ada No${n}`, email: `ada${n}@example.com`, status: 'SENT' }],
      createdAt: new Date(this.#time).toISOString(),
      sentAt: new Date(this.#time).toISOString(),
      expiresAt: new Date(this.#time + 30 * 86_400_000).toISOString(),
      completedAt: null,
      signedDocumentStorageKey: null,
      certificateStorageKey: null,
      ...facts,
    };
    this.envelopes.set(envelope.id, envelope);
    return envelope;
  }

  /** Starts from scratch with its clock set back by this much, like a sandbox that is reset after time was advanced. */
  reset(backMs: number): void {
    this.envelopes.clear();
    this.#made = 0;
    this.#time -= backMs;
  }

  move(id: string, status: string): void {
    const one = this.envelopes.get(id);
    if (one === undefined) return;
    const isDone = status === 'COMPLETED';
    const keys = isDone
      ? { signedDocumentStorageKey: 'signed.pdf', certificateStorageKey: 'certificate.pdf' }
      : {};
    const signers = one.signers?.map((signer) => (isDone ? { ...signer, status: 'SIGNED' } : signer));
    const completedAt = isDone ? new Date(this.#time).toISOString() : null;
    this.envelopes.set(id, { ...one, ...keys, signers, status, completedAt });
  }

  /** The result of a search over all envelopes: IDs and states, newest first. */
  truth(criteria: Criteria): string[] {
    return [...this.envelopes.values()]
      .filter(selectionFilter(selectionOf(criteria), Date.now()))
      .sort((a, b) => Date.parse(b.createdAt ?? '') - Date.parse(a.createdAt ?? ''))
      .map(summaryOf);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #page(query: URLSearchParams): unknown {
    const [page, status] = [Number(query.get('page')), query.get('status')];
    const all = [...this.envelopes.values()].filter((one) => status === null || one.status === status);
    const { order, items, counts } = this.reading;
    if (order === 'newest-first') all.reverse();
    if (order === 'none') all.sort((a, b) => scrambled(a.id) - scrambled(b.id));
    const data = all.slice((page - 1) * 100, page * 100);
    const total = all.length;
    return {
      data: items === 'whole' ? data : data.map(({ signers: _, metadata: __, ...item }) => item),
      meta: counts ? { pagination: { page, total, totalPages: Math.ceil(total / 100) } } : {},
    };
  }
}

function scrambled(id: string): number {
  return (Number(id.slice(4)) * 7_919) % 104_729;
}

/** The fields of an envelope that are compared. */
function summaryOf({ id, status, signers }: Envelope): string {
  return `${id} ${status ?? ''} ${signers?.map((one) => one.status).join(',') ?? '-'}`;
}

/** One run of the program: opens the index of the folder, queries it, and closes it. */
export async function ask(
  service: ModelService,
  folder: string,
  criteria: Criteria,
  options: { limit?: number; cached?: boolean; oneSignerFirst?: boolean } = {},
): Promise<{ answers: string[]; requests: number; total: number | undefined }> {
  const { index, feed } = indexOf(service, folder);
  const before = service.requests;
  const answer = await queryIndex(index, selectionOf(criteria), options);
  const answers: string[] = [];
  for await (const one of answer.envelopes) answers.push(summaryOf(one));
  await feed.finish();
  return { answers, requests: service.requests - before, total: answer.total() };
}

/** The index of a folder, with the client that it reads from. */
export function indexOf(service: ModelService, folder: string) {
  const scope = { baseUrl: 'http://127.0.0.1/api/v1', profile: 'acme', apiKey: 'sk_test_0123456789' };
  const feed = new Feed(indexPath(folder, scope));
  const client = service.client((seen, alone) => feed.envelope(seen, alone));
  return { feed, client, index: new EnvelopeIndex(feed, client) };
}
