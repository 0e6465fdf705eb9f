import type { Envelope } from '../../src/api/resource-types.ts';
import { json, startServer, type TestServer } from './server.ts';

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
  /** Called before each page of the list is returned. */
  onPage: (page: number) => void = () => undefined;
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

  /** The environment that makes a command use it. */
  get env(): Record<string, string> {
    return { ESIGN_BASE_URL: `${this.#server.origin}/api/v1`, ESIGN_API_KEY: 'sk_test_0123456789' };
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

  /** The envelopes with a word that begins like this, as `summaryOf` prints them, newest first. */
  truth(word: string, statuses?: readonly string[]): string[] {
    return [...this.envelopes.values()]
      .filter((one) => statuses === undefined || statuses.includes(one.status ?? ''))
      .filter((one) => hasWord(one, word))
      .sort((a, b) => Date.parse(b.createdAt ?? '') - Date.parse(a.createdAt ?? ''))
      .map(summaryOf);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #page(query: URLSearchParams): unknown {
    const [page, status] = [Number(query.get('page')), query.get('status')];
    this.onPage(page);
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

/** Searches as the contract describes it, but without an index and without folding. */
function hasWord(
  { id, subject, templateId, templateName, metadata, signers }: Envelope,
  word: string,
): boolean {
  const people = (signers ?? []).flatMap(({ name, email }) => [name, email]);
  const values = Object.values(metadata ?? {}).map(String);
  const texts = [id, subject, templateId, templateName, ...people, ...values].join('\n').toLowerCase();
  return texts
    .split(word)
    .slice(0, -1)
    .some((before) => !/[a-z0-9]$/.test(before));
}

/** The fields of an envelope that are compared: its ID, its status, and those of its signers. */
export function summaryOf({ id, status, signers }: Envelope): string {
  return `${id} ${status ?? ''} ${signers?.map((one) => one.status).join(',') ?? '-'}`;
}
