import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { MAX_LIST_LAG_MS, markedEnvelopes } from '../catalog/envelope-list.ts';
import { timeOf } from '../kernel/clock.ts';
import { UnknownOutcomeError } from '../kernel/errors.ts';
import { type PrecedenceFacts, precedenceFactsOf } from './precedence.ts';
import type { RequestHost } from './request-host.ts';

/*
 * The reading of the list that decides which envelope of a request counts. docs/contributing/reliability.md has the rule and its proof.
 */

/** The time between the reading that shows all drafts and the one that decides, in ms. */
export const SETTLE_MS = 2_000;
/** Pauses between readings until all drafts are listed, in ms. Their sum is more than a list may lag. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 20_000];
/** Envelopes created up to this long before the requests began may be missing from the list that was looked through. In ms. */
const EARLIER_MS = MAX_LIST_LAG_MS + 30_000;

/** From when on the list is read: everything that was created since it was looked through, and the drafts that were taken over. */
export class ReadingStart {
  readonly #client: Client;
  readonly #lookedAt: number;
  /** In ms, by the service's clock. */
  #earliest = Number.POSITIVE_INFINITY;
  #showsTimes = true;

  /** `lookedAt`: when the list was looked through, in ms by this machine's clock. */
  constructor(client: Client, lookedAt: number) {
    this.#client = client;
    this.#lookedAt = lookedAt;
  }

  /** Takes a draft into account. `isNew`: it was created just now, so that its time shows the service's clock. */
  add({ createdAt }: PrecedenceFacts, isNew: boolean): void {
    const since = isNew ? Math.max(0, this.#client.clock.now() - this.#lookedAt) : 0;
    const time = timeOf(createdAt) - since;
    if (Number.isNaN(time)) this.#showsTimes = false;
    else this.#earliest = Math.min(this.#earliest, time);
  }

  /** Returns the creation time (ms, service clock) from which envelopes are read. */
  since(): number {
    const isKnown = this.#showsTimes && Number.isFinite(this.#earliest);
    return isKnown ? this.#earliest - EARLIER_MS : this.#client.serviceClock.earliest(this.#lookedAt);
  }
}

/** What the deciding reading shows of requests that have more than an untouched draft. */
export interface SettledRequests {
  /** The other envelopes of a request, and its own if that isn't a draft anymore. */
  others: ReadonlyMap<number, readonly PrecedenceFacts[]>;
  /** False if the service doesn't show the request IDs, so that the list proves nothing. */
  isProof: boolean;
}

/**
 * Reads the list until it shows every draft, and then, two seconds after that reading began, once more: the second reading shows
 * everything that another machine may have created for the same requests and decided on. It begins at `notBefore` (ms, this machine's
 * clock) or later.
 * @throws UnknownOutcomeError if the list doesn't show the drafts. Nobody was emailed then.
 */
export async function settle(
  host: RequestHost,
  start: ReadingStart,
  notBefore: number,
): Promise<SettledRequests> {
  const { client, signal } = host;
  const drafts = host.drafts();
  const nothing: SettledRequests = { others: new Map(), isProof: true };
  if (drafts.size === 0) return nothing;
  const reader = new DraftReader(host, drafts, start);
  try {
    let began = client.clock.now();
    for (const pause of [...PAUSES_MS, undefined]) {
      began = client.clock.now();
      await host.ask(() => reader.read(), { reads: true });
      if (reader.showsAll) break;
      if (pause === undefined) throw notListed(reader.missing());
      host.waits('waiting for the list to show the new drafts');
      await client.clock.sleep(pause, signal);
    }
    if (!reader.isProof) return { ...nothing, isProof: false };
    const now = client.clock.now();
    const wait = Math.max(SETTLE_MS - Math.max(0, now - began), notBefore - now);
    if (wait > SETTLE_MS)
      host.waits('An earlier process may have created envelopes that the list does not show yet.', wait);
    if (wait > 0) await client.clock.sleep(wait, signal);
    await host.ask(() => reader.read(), { reads: true });
    return { others: reader.others, isProof: reader.isProof };
  } finally {
    host.waits(undefined);
  }
}

class DraftReader {
  readonly #host: RequestHost;
  readonly #drafts: ReadonlyMap<string, number>;
  readonly #start: ReadingStart;
  /** Envelopes without a request ID, which are not read again. */
  readonly #unmarked = new Set<string>();
  #shown = new Set<string>();
  others = new Map<number, PrecedenceFacts[]>();
  /** False once an own draft was shown without its request ID. */
  isProof = true;

  constructor(host: RequestHost, drafts: ReadonlyMap<string, number>, start: ReadingStart) {
    this.#host = host;
    this.#drafts = drafts;
    this.#start = start;
  }

  get showsAll(): boolean {
    return this.#shown.size === this.#drafts.size || !this.isProof;
  }

  missing(): string[] {
    return [...this.#drafts.keys()].filter((id) => !this.#shown.has(id));
  }

  async read(): Promise<void> {
    const { client, signal } = this.#host;
    this.#shown = new Set();
    this.others = new Map();
    const walk = { since: () => this.#start.since(), known: this.#unmarked, marked: this.#drafts, signal };
    for await (const envelope of markedEnvelopes(client, walk)) this.#take(envelope);
    if ([...this.#drafts.keys()].some((id) => this.#unmarked.has(id))) this.isProof = false;
  }

  #take(envelope: Envelope): void {
    const number = this.#host.numberOf(envelope);
    const own = this.#drafts.get(envelope.id);
    if (own !== undefined) {
      this.#shown.add(envelope.id);
      // The request ID came back changed, so other envelopes of the request can't be recognized.
      if (number !== own) this.isProof = false;
      if (envelope.status === 'DRAFT') return;
    }
    if (number === undefined || this.#host.draftOf(number) === undefined) return;
    const others = this.others.get(number) ?? [];
    others.push(precedenceFactsOf(envelope));
    this.others.set(number, others);
  }
}

function notListed(missing: readonly string[]): UnknownOutcomeError {
  const [first = ''] = missing;
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
  return new UnknownOutcomeError(
    `The service's list doesn't show the new draft ${first}${more}, so nobody was emailed.`,
    { hint: 'Run the same command again when the list shows it: it is taken over, and not created again.' },
  );
}
