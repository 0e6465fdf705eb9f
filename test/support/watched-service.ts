import type { Client } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/resource-types.ts';
import { NetworkError, ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from './client.ts';
import { type FakeClock, fakeClock } from './clock.ts';

/** Options of a fake service. */
export interface ModelOptions {
  /** List items have no signers. */
  lacking?: boolean;
  /** Envelopes of the account that are not watched, all COMPLETED. */
  archived?: number;
  /** Called as time passes, before the next poll. */
  onSleep?: (ms: number) => void;
  /** Fails a request, by its number. */
  fails?: (number: number) => 'down' | 'busy' | undefined;
  /** Responds with an earlier state, by the number of the request. */
  stale?: (number: number) => boolean;
  /** The status filter has no effect. */
  ignoresStatus?: boolean;
  /** Responses don't include the number of pages. */
  countless?: boolean;
}

export interface Move {
  status: string;
  signer: string | null;
}

/** The life of an envelope with two signers, one step at a time. */
const STEPS: readonly { status: string; signer: number | null; to: string }[] = [
  { status: 'SENT', signer: 0, to: 'VIEWED' },
  { status: 'IN_PROGRESS', signer: 0, to: 'SIGNED' },
  { status: 'IN_PROGRESS', signer: 1, to: 'VIEWED' },
  { status: 'COMPLETED', signer: 1, to: 'SIGNED' },
];

/** Envelopes that change on request, behind a client that counts its requests. */
export class Model {
  readonly clock: FakeClock = fakeClock();
  readonly client: Client;
  readonly moves = new Map<string, Move[]>();
  readonly gone = new Set<string>();
  requests = 0;
  gets = 0;
  readonly #options: ModelOptions;
  readonly #now = new Map<string, Envelope>();
  readonly #before = new Map<string, Envelope>();
  readonly #steps = new Map<string, number>();

  constructor(ids: readonly string[], options: ModelOptions = {}) {
    this.#options = options;
    for (const id of ids) this.add(id);
    for (let i = 0; i < (options.archived ?? 0); i++)
      this.#now.set(`env_old${i}`, {
        id: `env_old${i}`,
        status: 'COMPLETED',
        signers: [{ status: 'SIGNED' }],
      });
    const base = clientFor('http://127.0.0.1:1', { clock: this.clock });
    const sleep = (ms: number, signal?: AbortSignal) => {
      options.onSleep?.(ms);
      return this.clock.sleep(ms, signal);
    };
    this.client = {
      ...base,
      clock: { now: this.clock.now, sleep },
      envelopes: {
        ...base.envelopes,
        get: (id) => this.#get(id),
        getListed: (id) => this.#get(id),
        page: (number, wanted) => this.#page(number, wanted?.status),
      },
    };
  }

  add(id: string): void {
    this.#now.set(id, {
      id,
      status: 'SENT',
      signers: [0, 1].map((i) => ({ id: `${id}_s${i}`, email: `s${i}@example.com`, status: 'SENT' })),
    });
    this.#steps.set(id, 0);
    this.moves.set(id, []);
  }

  /** Performs the next step of an envelope. Returns false if none is left. */
  advance(id: string): boolean {
    const number = this.#steps.get(id) ?? 0;
    const step = STEPS[number];
    const envelope = this.#now.get(id);
    if (step === undefined || envelope === undefined || this.gone.has(id)) return false;
    this.#steps.set(id, number + 1);
    const at = new Date(this.clock.time + number).toISOString();
    const signers = (envelope.signers ?? []).map((one, i) =>
      i === step.signer ? { ...one, status: step.to, signedAt: step.to === 'SIGNED' ? at : null } : one,
    );
    this.#before.set(id, envelope);
    this.#now.set(id, { ...envelope, status: step.status, signers });
    this.moves.get(id)?.push({ status: step.status, signer: `s${step.signer ?? 0}@example.com` });
    return true;
  }

  /** Performs all remaining steps. */
  finish(): void {
    for (const id of this.moves.keys()) while (this.advance(id));
  }

  #seen(id: string, stale: boolean): Envelope | undefined {
    return (stale ? this.#before.get(id) : undefined) ?? this.#now.get(id);
  }

  #ask(): boolean {
    const number = ++this.requests;
    const failure = this.#options.fails?.(number);
    if (failure === 'down') throw new NetworkError('NETWORK', 'away', { maybeReceived: true });
    if (failure === 'busy')
      throw new ServiceError('RATE_LIMITED', 'busy', { status: 429, resetAt: this.clock.time + 20_000 });
    return this.#options.stale?.(number) ?? false;
  }

  async #get(id: string): Promise<Envelope> {
    await Promise.resolve();
    const stale = this.#ask();
    this.gets++;
    const envelope = this.gone.has(id) ? undefined : this.#seen(id, stale);
    if (envelope === undefined) throw new ServiceError('NOT_FOUND', `No envelope ${id}.`, { status: 404 });
    return envelope;
  }

  async #page(number: number, status: string | undefined) {
    await Promise.resolve();
    const stale = this.#ask();
    const { lacking, ignoresStatus, countless } = this.#options;
    const all = [...this.#now.keys()]
      .filter((id) => !this.gone.has(id))
      .flatMap((id) => this.#seen(id, stale) ?? [])
      .filter((one) => ignoresStatus || status === undefined || one.status === status);
    const items = all
      .slice((number - 1) * 100, number * 100)
      .map(({ signers, ...rest }) => (lacking ? rest : { ...rest, signers }));
    return { items, totalPages: countless ? undefined : Math.max(1, Math.ceil(all.length / 100)) };
  }
}

export function idsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `env_${index}`);
}
