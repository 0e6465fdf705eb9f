import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { BadResponseError, NetworkError, ServiceError } from '../kernel/errors.ts';
import { isTerminal } from '../kernel/vocabulary.ts';
import { lookAt } from './looks.ts';

/** One change of one envelope. The first look at an envelope has `from: null`. */
export interface Change {
  /** When it was seen, ISO 8601. */
  at: string;
  envelopeId: string;
  from: string | null;
  to: string;
  /** The address of the signer whose status changed, where one did. */
  signer: string | null;
  envelope: Envelope;
}

export type WatchEvent =
  | { type: 'change'; change: Change }
  /** The service knows it no longer, or never did; the others are watched on. */
  | { type: 'gone'; id: string; error: Error }
  /** The service could not be asked; watching goes on. */
  | { type: 'outage'; error: Error; failures: number }
  | { type: 'recovered' };

export interface WatchOptions {
  /** Statuses to wait for. */
  until: readonly string[];
  intervalMs: number;
  /** The longest pause while nothing moves; the interval itself when absent. */
  quietMs?: number | undefined;
  random?: () => number;
  signal?: AbortSignal;
}

interface Seen {
  status: string;
  signers: Map<string, string>;
}

/** How far an envelope has come; a stale answer from a lagging replica never takes it back. */
const RANK: Readonly<Record<string, number>> = { DRAFT: 0, SENT: 1, IN_PROGRESS: 2 };

/**
 * Follows envelopes until each is in an awaited or a terminal status. Yields each change once, in order. A look costs
 * about as many requests as there are pages of a list, when that is fewer than envelopes. Outages and 5xx are waited out
 * and reported; an error that will not pass (401) ends the watch.
 */
export async function* watchEnvelopes(
  client: Client,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const open = new Set(ids);
  const seen = new Map<string, Seen>();
  const course = new Course();
  while (open.size > 0) {
    for await (const event of surviving(tick(client, open, seen, options), options.signal))
      yield* course.take(event);
    if (open.size > 0) await client.clock.sleep(course.pause(options), options.signal);
  }
}

/** How a watch goes: whether the service is away, and for how long nothing has moved. */
class Course {
  #failures = 0;
  #quiet = 0;

  /** What is to be reported of an event of a look; undefined stands for an envelope to which nothing has happened. */
  *take(event: WatchEvent | undefined): Generator<WatchEvent, void, undefined> {
    if (event?.type === 'outage') {
      this.#failures++;
      yield { ...event, failures: this.#failures };
      return;
    }
    if (this.#failures > 0) yield { type: 'recovered' };
    this.#failures = 0;
    if (event === undefined) return;
    this.#quiet = 0;
    yield event;
  }

  /** Longer while nothing moves or the service is away, shorter after a change. In ms. */
  pause({ intervalMs, quietMs = intervalMs, random = Math.random }: WatchOptions): number {
    const away = Math.min(intervalMs * 2 ** Math.min(this.#failures, 6), Math.max(60_000, intervalMs));
    const calm = Math.min(intervalMs * 1.3 ** Math.max(0, this.#quiet - 2), Math.max(quietMs, intervalMs));
    this.#quiet++;
    return Math.max(away, calm) * (0.9 + random() * 0.2);
  }
}

/** The events of a look, with an outage at the end when the service could not be asked. */
async function* surviving(
  look: AsyncIterable<WatchEvent | undefined>,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent | undefined, void, undefined> {
  try {
    yield* look;
  } catch (error) {
    if (signal?.aborted || !isOutage(error)) throw error;
    yield { type: 'outage', error, failures: 1 };
  }
}

/** One look at everything open: what has happened, and undefined for each envelope to which nothing has. */
async function* tick(
  client: Client,
  open: Set<string>,
  seen: Map<string, Seen>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent | undefined, void, undefined> {
  for await (const { id, envelope, error } of lookAt(client, open, statusesOf(open, seen), options.signal)) {
    yield undefined;
    if (envelope === undefined) {
      open.delete(id);
      yield { type: 'gone', id, error };
      continue;
    }
    yield* changesOf(envelope, seen, client.clock.now());
    if (isOver(envelope, options.until)) open.delete(id);
  }
}

function statusesOf(open: ReadonlySet<string>, seen: ReadonlyMap<string, Seen>): Map<string, string> {
  return new Map([...seen].filter(([id]) => open.has(id)).map(([id, { status }]) => [id, status]));
}

function isOutage(error: unknown): error is Error {
  if (error instanceof NetworkError || error instanceof BadResponseError) return true;
  return error instanceof ServiceError && (error.status >= 500 || error.status === 429);
}

/** True when nothing is left to wait for. */
export function isOver(envelope: Envelope, until: readonly string[]): boolean {
  const status = envelope.status ?? '';
  return until.includes(status) || isTerminal(status);
}

function* changesOf(envelope: Envelope, seen: Map<string, Seen>, now: number): Generator<WatchEvent> {
  const before = seen.get(envelope.id);
  const status = envelope.status ?? 'UNKNOWN';
  if (before !== undefined && goesBack(before.status, status)) return;
  // An item of a list may lack its signers: then nothing is known of them anew.
  const signers = envelope.signers
    ? new Map(envelope.signers.map((one) => [one.email ?? one.id ?? '', one.status ?? '']))
    : (before?.signers ?? new Map<string, string>());
  const moved = before
    ? [...signers.keys()].filter((who) => before.signers.get(who) !== signers.get(who))
    : [];
  if (before?.status === status && moved.length === 0) return;
  seen.set(envelope.id, { status, signers });
  const at = new Date(now).toISOString();
  const from = before?.status ?? null;
  // Several signers moved between two looks: a line each; the new status counts as reached by the last.
  for (const [index, signer] of (moved.length > 0 ? moved : [null]).entries()) {
    const to = index >= moved.length - 1 ? status : (from ?? status);
    yield { type: 'change', change: { at, envelopeId: envelope.id, from, to, signer, envelope } };
  }
}

function goesBack(from: string, to: string): boolean {
  if (isTerminal(from)) return from !== to;
  const [before, after] = [RANK[from], RANK[to]];
  return before !== undefined && after !== undefined && after < before;
}
