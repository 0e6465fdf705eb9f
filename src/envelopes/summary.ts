import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { isInFlight } from '../kernel/vocabulary.ts';
import { type Selection, selectEnvelopes } from './select.ts';

/** An envelope worth a look, and since or until when. */
export interface Standout {
  id: string;
  subject: string | null;
  /** Whom it waits for, where that is known. */
  waitingFor: string[];
  /** ISO 8601. */
  at: string;
}

/** Where an organisation's envelopes stand. Times in ms. */
export interface Summary {
  total: number;
  byStatus: Record<string, number>;
  /** In flight the longest, the oldest first. */
  waitingLongest: Standout[];
  /** In flight and soon over, the next first. */
  expiringSoon: Standout[];
  /** In turn, and the signer whose turn it is was never asked. */
  stuck: Standout[];
  /** From sending to completion. */
  completion: { count: number; medianMs: number | null; p90Ms: number | null };
}

export interface SummaryOptions {
  /** The service's time. */
  now: () => number;
  /** How soon is soon, in ms; three days unless told. */
  soonMs?: number | undefined;
  /** How many of each kind are named. */
  most: number;
  signal?: AbortSignal;
}

const SOON_MS = 3 * 86_400_000;
const NOT_ASKED = new Set(['PENDING', 'AWAITING_TURN', 'WAITING', 'CREATED']);
const SIGNED = 'SIGNED';

/** Adds up all envelopes that fit, in one walk over the list; constant memory but for the times of completion. */
export async function summarize(
  client: Client,
  selection: Selection,
  options: SummaryOptions,
): Promise<Summary> {
  const { signal } = options;
  const tally = new Tally(options);
  for await (const item of selectEnvelopes(client, selection, signal ? { signal } : {})) {
    // Whose turn it is can only be told from the signers, which a list may lack.
    const lacksSigners =
      isInFlight(item.status) && item.signingOrder === 'SEQUENTIAL' && item.signers === undefined;
    tally.add(lacksSigners ? await client.envelopes.get(item.id, signal) : item);
  }
  return tally.result();
}

/** The ids of those that a summary names, each once. */
export function namedIn({ stuck, waitingLongest, expiringSoon }: Summary): string[] {
  return [...new Set([...stuck, ...waitingLongest, ...expiringSoon].map(({ id }) => id))];
}

class Tally {
  readonly #options: SummaryOptions;
  readonly #byStatus = new Map<string, number>();
  readonly #waiting: Standout[] = [];
  readonly #expiring: Standout[] = [];
  readonly #stuck: Standout[] = [];
  readonly #durations: number[] = [];
  #total = 0;

  constructor(options: SummaryOptions) {
    this.#options = options;
  }

  add(envelope: Envelope): void {
    const status = envelope.status ?? 'UNKNOWN';
    this.#total++;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    const took = Date.parse(envelope.completedAt ?? '') - Date.parse(envelope.sentAt ?? '');
    if (!Number.isNaN(took)) this.#durations.push(took);
    if (isInFlight(envelope.status)) this.#addInFlight(envelope);
  }

  #addInFlight(envelope: Envelope): void {
    const { now, soonMs = SOON_MS, most } = this.#options;
    const since = envelope.sentAt ?? envelope.createdAt;
    keep(this.#waiting, standout(envelope, since), most);
    if (Date.parse(envelope.expiresAt ?? '') - now() <= soonMs)
      keep(this.#expiring, standout(envelope, envelope.expiresAt), most);
    if (envelope.signingOrder === 'SEQUENTIAL' && isStuck(envelope))
      keep(this.#stuck, standout(envelope, since), most);
  }

  result(): Summary {
    const sorted = this.#durations.sort((a, b) => a - b);
    return {
      total: this.#total,
      byStatus: Object.fromEntries(this.#byStatus),
      waitingLongest: this.#waiting,
      expiringSoon: this.#expiring,
      stuck: this.#stuck,
      completion: { count: sorted.length, medianMs: quantile(sorted, 0.5), p90Ms: quantile(sorted, 0.9) },
    };
  }
}

function standout(envelope: Envelope, at: string | null | undefined): Standout {
  const open = (envelope.signers ?? []).filter(({ status }) => status !== SIGNED && status !== 'DECLINED');
  return {
    id: envelope.id,
    subject: envelope.subject ?? null,
    waitingFor: open.map(({ name, email }) => name ?? email ?? '').filter((name) => name !== ''),
    at: at ?? '',
  };
}

/** Keeps the earliest few, in order. */
function keep(list: Standout[], one: Standout, most: number): void {
  if (one.at === '') return;
  list.push(one);
  list.sort((a, b) => (a.at < b.at ? -1 : 1));
  if (list.length > most) list.pop();
}

function isStuck(envelope: Envelope): boolean {
  const open = (envelope.signers ?? []).filter(({ status }) => status !== SIGNED);
  const turn = Math.min(...open.map(({ order }) => order ?? 0));
  const next = open.filter(({ order }) => (order ?? 0) === turn);
  return next.length > 0 && next.every(({ status }) => NOT_ASKED.has(status ?? ''));
}

function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? null;
}
