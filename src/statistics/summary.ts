import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { whoseTurn } from '../envelopes/named-signer.ts';
import { replacedBy } from '../envelopes/replace/find.ts';
import { timeOf } from '../kernel/clock.ts';
import { percentile } from '../kernel/percentile.ts';
import { hasDeclined, isInFlight, isPending, listsSigners } from '../kernel/vocabulary.ts';
import { DECLINED_WITHIN_MS, FORGOTTEN_AFTER_MS, SOON_MS, UNOPENED_AFTER_MS } from './defaults.ts';

/** A notable envelope, with a relevant time. */
export interface HighlightedEnvelope {
  id: string;
  subject: string | null;
  /** The signers that it is waiting for, if known. For a declined envelope, the one who declined. */
  waitingFor: string[];
  /** ISO 8601. */
  at: string;
}

/** The number of envelopes of a kind, and the first few. */
export interface Attention {
  count: number;
  envelopes: HighlightedEnvelope[];
}

/**
 * The envelopes that need attention today:
 * - declined: in the last 30 days and not replaced, latest first
 * - expiringSoon: in flight and about to expire, next to expire first
 * - neverOpened: sent at least three days ago, and not opened by anyone whose turn it is, oldest first
 * - forgottenDrafts: at least a week old, oldest first
 */
export type NeedsAttention = Record<
  'declined' | 'expiringSoon' | 'neverOpened' | 'forgottenDrafts',
  Attention
>;

/** The state of an organization's envelopes. Times in ms. */
export interface StatisticsSummary {
  total: number;
  byStatus: Record<string, number>;
  /** In flight the longest, oldest first. */
  waitingLongest: HighlightedEnvelope[];
  /** In flight and about to expire, next to expire first. */
  expiringSoon: HighlightedEnvelope[];
  /** Sequential envelopes whose next signer was never asked. */
  stuck: HighlightedEnvelope[];
  needsAttention: NeedsAttention;
  /** The time from sending to completion. */
  completion: { count: number; medianMs: number | null; p90Ms: number | null };
}

export interface SummaryOptions {
  /** Returns the service's time, in ms. */
  now: () => number;
  /** How soon an expiration counts as soon, in ms. The default is three days. */
  soonMs?: number | undefined;
  /** The maximum number of envelopes listed for each kind. */
  maxListed: number;
  signal?: AbortSignal;
}

const NOT_ASKED = new Set(['PENDING', 'AWAITING_TURN', 'WAITING', 'CREATED']);

/** Summarizes envelopes in one pass. Memory is constant except for completion times, declined envelopes, and replacements. */
export async function summarize(
  client: Client,
  envelopes: AsyncIterable<Envelope>,
  options: SummaryOptions,
): Promise<StatisticsSummary> {
  const { signal } = options;
  const tally = new Tally(options);
  for await (const item of envelopes) {
    // Whose turn it is depends on the signers, which a list may leave out.
    const lacksSigners = isInFlight(item.status) && item.signingOrder === 'SEQUENTIAL' && !listsSigners(item);
    tally.add(lacksSigners ? await client.envelopes.get(item.id, signal) : item);
  }
  return tally.result();
}

/** Returns the IDs of the envelopes that a summary lists, each once. */
export function namedIn({ stuck, waitingLongest, needsAttention }: StatisticsSummary): string[] {
  const attention = Object.values(needsAttention).flatMap(({ envelopes }) => envelopes);
  const named = [...stuck, ...waitingLongest, ...attention];
  return [...new Set(named.map(({ id }) => id))];
}

class Tally {
  readonly #options: SummaryOptions;
  readonly #byStatus = new Map<string, number>();
  readonly #waiting: Attention = { count: 0, envelopes: [] };
  readonly #expiring: Attention = { count: 0, envelopes: [] };
  readonly #neverOpened: Attention = { count: 0, envelopes: [] };
  readonly #drafts: Attention = { count: 0, envelopes: [] };
  readonly #stuck: Attention = { count: 0, envelopes: [] };
  /** All of them are kept, since a replacement may come after the envelope that it replaces. */
  readonly #declined: HighlightedEnvelope[] = [];
  readonly #replaced = new Set<string>();
  readonly #durations: number[] = [];
  #total = 0;

  constructor(options: SummaryOptions) {
    this.#options = options;
  }

  add(envelope: Envelope): void {
    const status = envelope.status ?? 'UNKNOWN';
    this.#total++;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    const took = timeOf(envelope.completedAt) - timeOf(envelope.sentAt);
    if (!Number.isNaN(took)) this.#durations.push(took);
    const replaced = replacedBy(envelope);
    if (replaced !== undefined) this.#replaced.add(replaced);
    if (isInFlight(envelope.status)) this.#addInFlight(envelope);
    else if (status === 'DECLINED') this.#addDeclined(envelope);
    else if (status === 'DRAFT' && this.#ageOf(envelope.createdAt) >= FORGOTTEN_AFTER_MS)
      this.#keep(this.#drafts, envelope, envelope.createdAt);
  }

  #addInFlight(envelope: Envelope): void {
    const { now, soonMs = SOON_MS } = this.#options;
    const since = envelope.sentAt ?? envelope.createdAt;
    this.#keep(this.#waiting, envelope, since);
    if (timeOf(envelope.expiresAt) - now() <= soonMs)
      this.#keep(this.#expiring, envelope, envelope.expiresAt);
    const asked = whoseTurn(envelope);
    const isUnopened = asked.length > 0 && asked.every(({ status }) => status === 'SENT');
    if (isUnopened && this.#ageOf(since) >= UNOPENED_AFTER_MS) this.#keep(this.#neverOpened, envelope, since);
    const isStuck = asked.length > 0 && asked.every(({ status }) => NOT_ASKED.has(status ?? ''));
    if (envelope.signingOrder === 'SEQUENTIAL' && isStuck) this.#keep(this.#stuck, envelope, since);
  }

  #addDeclined(envelope: Envelope): void {
    const decliner = envelope.signers?.find(hasDeclined);
    const at = decliner?.declinedAt ?? envelope.sentAt ?? envelope.createdAt;
    if (this.#ageOf(at) > DECLINED_WITHIN_MS) return;
    const by = decliner?.name ?? decliner?.email;
    this.#declined.push({ ...highlight(envelope, at), waitingFor: by ? [by] : [] });
  }

  /** Counts an envelope, and keeps only the earliest few, in order. */
  #keep(attention: Attention, envelope: Envelope, at: string | null | undefined): void {
    attention.count++;
    if (!at) return;
    const { envelopes } = attention;
    envelopes.push(highlight(envelope, at));
    envelopes.sort((a, b) => (a.at < b.at ? -1 : 1));
    if (envelopes.length > this.#options.maxListed) envelopes.pop();
  }

  /** Returns the age in ms; NaN if the time is not known. */
  #ageOf(at: string | null | undefined): number {
    return this.#options.now() - Date.parse(at ?? '');
  }

  result(): StatisticsSummary {
    const declined = this.#declined
      .filter(({ id }) => !this.#replaced.has(id))
      .sort((a, b) => (a.at > b.at ? -1 : 1));
    const sorted = this.#durations.sort((a, b) => a - b);
    return {
      total: this.#total,
      byStatus: Object.fromEntries(this.#byStatus),
      waitingLongest: this.#waiting.envelopes,
      expiringSoon: this.#expiring.envelopes,
      stuck: this.#stuck.envelopes,
      needsAttention: {
        declined: { count: declined.length, envelopes: declined.slice(0, this.#options.maxListed) },
        expiringSoon: this.#expiring,
        neverOpened: this.#neverOpened,
        forgottenDrafts: this.#drafts,
      },
      completion: { count: sorted.length, medianMs: percentile(sorted, 50), p90Ms: percentile(sorted, 90) },
    };
  }
}

function highlight(envelope: Envelope, at: string | null | undefined): HighlightedEnvelope {
  const open = (envelope.signers ?? []).filter(isPending);
  return {
    id: envelope.id,
    subject: envelope.subject ?? null,
    waitingFor: open.map(({ name, email }) => name ?? email ?? '').filter((name) => name !== ''),
    at: at ?? '',
  };
}
