import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { BadResponseError, NetworkError, ServiceError } from '../kernel/errors.ts';
import { isTerminal } from '../kernel/vocabulary.ts';

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
  /** The service could not be asked; watching goes on. */
  | { type: 'outage'; error: Error; failures: number }
  | { type: 'recovered' };

export interface WatchOptions {
  /** Statuses to wait for. */
  until: readonly string[];
  intervalMs: number;
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
 * Follows envelopes until each is in an awaited or a terminal status. Yields each change once, in order.
 * Outages and 5xx are waited out and reported; an error that will not pass (401, 404) ends the watch.
 */
export async function* watchEnvelopes(
  client: Client,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const open = new Set(ids);
  const seen = new Map<string, Seen>();
  let failures = 0;
  while (open.size > 0) {
    for (const id of [...open]) {
      const envelope = await look(client, id, options.signal);
      if (envelope instanceof Error) {
        failures++;
        yield { type: 'outage', error: envelope, failures };
        break;
      }
      if (failures > 0) yield { type: 'recovered' };
      failures = 0;
      yield* changesOf(envelope, seen, client.clock.now());
      if (isOver(envelope, options.until)) open.delete(id);
    }
    if (open.size > 0) await client.clock.sleep(pause(options, failures), options.signal);
  }
}

/** True when nothing is left to wait for. */
export function isOver(envelope: Envelope, until: readonly string[]): boolean {
  const status = envelope.status ?? '';
  return until.includes(status) || isTerminal(status);
}

async function look(client: Client, id: string, signal: AbortSignal | undefined): Promise<Envelope | Error> {
  try {
    return await client.envelopes.get(id, signal);
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error instanceof NetworkError || error instanceof BadResponseError) return error;
    if (error instanceof ServiceError && (error.status >= 500 || error.status === 429)) return error;
    throw error;
  }
}

function pause(options: WatchOptions, failures: number): number {
  const backOff = Math.min(
    options.intervalMs * 2 ** Math.min(failures, 6),
    Math.max(60_000, options.intervalMs),
  );
  return backOff * (0.9 + (options.random ?? Math.random)() * 0.2);
}

function* changesOf(envelope: Envelope, seen: Map<string, Seen>, now: number): Generator<WatchEvent> {
  const before = seen.get(envelope.id);
  const status = envelope.status ?? 'UNKNOWN';
  if (before !== undefined && goesBack(before.status, status)) return;
  const signers = new Map(
    (envelope.signers ?? []).map((one) => [one.email ?? one.id ?? '', one.status ?? '']),
  );
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
