import { Channel } from '../kernel/channel.ts';
import type { Clock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redaction.ts';
import { Forwarding } from './forward/backlog.ts';
import { FORWARDED_FOR_MS } from './forward/queue.ts';
import type { ForwardResult } from './forward/send.ts';
import type { Inspector } from './inspector/server.ts';
import { EventJournal, readEvents } from './journal/event-journal.ts';
import { type EventRecord, recordOf } from './journal/record.ts';
import { removeOldDays } from './journal/retention.ts';
import type { Delivery } from './receive/delivery.ts';
import { Failures } from './receive/failures.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from './receive/receiver.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

/** How many deliveries came to be what. */
export interface Summary {
  received: number;
  verified: number;
  refused: number;
  duplicates: number;
}

/** What happens to a listener, in the order in which it happens. */
export type ListenEvent =
  | { type: 'ready'; url: string; verify: boolean; inspectorUrl: string | undefined }
  /** It is reachable from outside. */
  | { type: 'tunnel'; url: string }
  /** So many are still to be forwarded from an earlier run. */
  | { type: 'backlog'; pending: number }
  /** It is in the journal, good or bad, and the sender is told so. */
  | { type: 'delivery'; delivery: Delivery }
  | { type: 'forward'; result: ForwardResult }
  /** So many old days were removed from the journals. */
  | { type: 'removed'; days: number }
  | { type: 'warning'; message: string }
  /** It was stopped, and goes on with what is being forwarded for a while. */
  | { type: 'draining'; pending: number }
  /** The last event of all. */
  | ({ type: 'summary' } & Summary);

export interface ListenerOptions extends Omit<ReceiverOptions, 'seen' | 'onDelivery' | 'onFailure'> {
  clock: Clock;
  eventsFolder: string;
  forwardsFolder: string;
  /** Only these are told of and forwarded; all are kept. */
  events: ReadonlySet<string> | undefined;
  forwardTo: readonly string[];
  forwardTimeoutMs: number;
  /** How long to go on forwarding when stopped. */
  drainMs: number;
  /** How long a day is kept; for ever when absent. */
  keepMs: number | undefined;
  /** The command that makes it reachable from outside. */
  tunnel: string | undefined;
  /** Shows deliveries on a page of this machine. */
  inspect: { port: number; redactor: Redactor } | undefined;
}

/** Repeats come within a day. */
const REPEATS_MS = 86_400_000;

/**
 * Receives webhooks until the signal aborts, and yields what happens. A delivery is in the journal before its sender is
 * told that it arrived, and before it is yielded; whoever iterates slowly delays no answer.
 * @throws UsageError before `ready` when it can't listen or write its journal; after the summary the error of a tunnel that
 * broke down.
 */
export async function* listen(
  options: ListenerOptions,
  signal: AbortSignal,
): AsyncGenerator<ListenEvent, void, undefined> {
  const channel = new Channel<ListenEvent>();
  const left = new AbortController();
  const listener = new Listener(options, channel);
  const run = listener.run(AbortSignal.any([signal, left.signal])).then(
    () => channel.close(),
    (error: unknown) => channel.close({ error }),
  );
  try {
    yield* channel;
  } finally {
    left.abort();
    await run;
  }
}

class Listener {
  readonly #options: ListenerOptions;
  readonly #channel: Channel<ListenEvent>;
  readonly #journal: EventJournal;
  readonly #forwarding: Forwarding;
  readonly #failures: Failures;
  readonly #count: Summary = { received: 0, verified: 0, refused: 0, duplicates: 0 };
  #inspector: Inspector | undefined;

  constructor(options: ListenerOptions, channel: Channel<ListenEvent>) {
    const { clock, eventsFolder, forwardsFolder, forwardTo, forwardTimeoutMs } = options;
    this.#options = options;
    this.#channel = channel;
    this.#journal = new EventJournal(eventsFolder, clock);
    this.#failures = new Failures(clock, (message) => this.#warn(message));
    this.#forwarding = new Forwarding({
      folder: forwardsFolder,
      urls: [...new Set(forwardTo)],
      timeoutMs: forwardTimeoutMs,
      clock,
      onResult: (result) => {
        this.#inspector?.forwarded(result);
        channel.push({ type: 'forward', result });
      },
      warn: (message) => this.#warn(message),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const receiver = await this.#start();
    this.#announce(receiver.url);
    const stopping = new AbortController();
    const tidying = this.#tidy(stopping.signal);
    let tunnel: Tunnel | undefined;
    try {
      tunnel = await this.#openTunnel(receiver.url, signal);
      await aborted(tunnel === undefined ? signal : AbortSignal.any([signal, tunnel.broken]));
      if (!signal.aborted) tunnel?.broken.throwIfAborted();
    } finally {
      stopping.abort();
      await receiver.close();
      this.#failures.finish();
      await tidying;
      await this.#drain();
      await tunnel?.close();
      this.#channel.push({ type: 'summary', ...this.#count });
    }
  }

  async #start(): Promise<Receiver> {
    try {
      // Before anything is promised to a sender.
      await this.#journal.open();
      const seen = await this.#recall();
      this.#inspector = await this.#inspect();
      return await startReceiver({
        ...this.#options,
        seen,
        onDelivery: (delivery) => this.#take(delivery),
        onFailure: (error) => this.#failures.failed(error),
      });
    } catch (error) {
      await this.#forwarding.stop(0);
      await this.#inspector?.close();
      await this.#journal.close();
      throw error;
    }
  }

  /** Reads the journal: the ids received lately, the oldest first; and what is still to be forwarded. */
  async #recall(): Promise<string[]> {
    const { clock, eventsFolder } = this.#options;
    const now = clock.now();
    const span = this.#forwarding.targets.length > 0 ? 2 * FORWARDED_FOR_MS : REPEATS_MS;
    const seen: { receivedAt: string; id: string }[] = [];
    const recent = new Date(now - REPEATS_MS).toISOString();
    await this.#forwarding.recall(this.#journal.name, eventsFolder, now - span, (record) => {
      const { reason, receivedAt, id } = record;
      if (reason === null && receivedAt >= recent) seen.push({ receivedAt, id });
    });
    return seen.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1)).map(({ id }) => id);
  }

  /** The page that shows deliveries, with those of today; its code is loaded only then. */
  async #inspect(): Promise<Inspector | undefined> {
    const { inspect, forwardTo, forwardTimeoutMs } = this.#options;
    if (inspect === undefined) return undefined;
    const { startInspector } = await import('./inspector/server.ts');
    return startInspector({
      ...this.#options,
      ...inspect,
      targets: forwardTo,
      timeoutMs: forwardTimeoutMs,
      earlier: this.#today(),
      onReplay: (result) => this.#channel.push({ type: 'forward', result }),
    });
  }

  /** What is told of today's deliveries, the latest first. */
  async *#today(): AsyncGenerator<EventRecord, void, undefined> {
    const { clock, eventsFolder } = this.#options;
    const since = new Date(clock.now()).setHours(0, 0, 0, 0);
    for await (const record of readEvents(eventsFolder, { since }))
      if (record.reason !== null || this.#isWanted(record.event)) yield record;
  }

  #announce(url: string): void {
    const { verify } = this.#options;
    this.#inspector?.listensAt(url);
    this.#channel.push({ type: 'ready', url, verify, inspectorUrl: this.#inspector?.url });
    const { backlog: pending } = this.#forwarding;
    if (pending > 0) this.#channel.push({ type: 'backlog', pending });
    this.#forwarding.start();
  }

  async #openTunnel(listensAt: string, signal: AbortSignal): Promise<Tunnel | undefined> {
    const { clock, tunnel: line } = this.#options;
    if (line === undefined) return undefined;
    const tunnel = await openTunnel(line, { listensAt, clock, signal }).catch((error: unknown) => {
      // Stopped before it was there.
      if (signal.aborted) return undefined;
      throw error;
    });
    if (tunnel !== undefined) this.#channel.push({ type: 'tunnel', url: tunnel.url });
    return tunnel;
  }

  /** Removes what is older than it is to be kept. */
  async #tidy(signal: AbortSignal): Promise<void> {
    const { keepMs } = this.#options;
    if (keepMs === undefined) return;
    await removeOldDays({
      ...this.#options,
      keepMs,
      signal,
      onRemoved: (days) => this.#channel.push({ type: 'removed', days }),
      onFailure: (error) => this.#warn(messageOf(error)),
    });
  }

  /** In the journal first: only then may the sender be told that it arrived. */
  async #take(delivery: Delivery): Promise<void> {
    const { reason, facts, verified, duplicate, receivedAt } = delivery;
    const isWanted = this.#isWanted(facts?.event ?? null);
    const isTaken = reason === null && isWanted;
    const record = recordOf(delivery, isTaken ? this.#forwarding.targets : []);
    const place = await this.#journal.append(record);
    this.#failures.taken();
    this.#count.received++;
    this.#count.verified += Number(verified);
    this.#count.refused += Number(reason !== null);
    this.#count.duplicates += Number(duplicate);
    if (reason === null && !isWanted) return;
    this.#inspector?.received(record, this.#options.clock.now() - Date.parse(receivedAt));
    this.#channel.push({ type: 'delivery', delivery });
    if (isTaken) this.#forwarding.take(delivery, place);
  }

  async #drain(): Promise<void> {
    const { pending } = this.#forwarding;
    if (pending > 0) this.#channel.push({ type: 'draining', pending });
    await this.#forwarding.stop(this.#options.drainMs);
    await this.#inspector?.close();
    await this.#journal.close();
  }

  #isWanted(event: string | null): boolean {
    const { events } = this.#options;
    return events === undefined || events.has(event ?? '');
  }

  #warn(message: string): void {
    this.#channel.push({ type: 'warning', message });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
