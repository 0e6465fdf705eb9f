import { DayJournal } from '../journal/day-journal.ts';
import { Channel } from '../kernel/async/channel.ts';
import { aborted } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { Forwarding } from './forward/forwarding.ts';
import { Health } from './health/health.ts';
import { type HealthServer, startHealthServer } from './health/server.ts';
import type { Inspector } from './inspector/server.ts';
import { CoverageLog } from './journal/coverage.ts';
import { readEvents } from './journal/event-journal.ts';
import { EVENTS_FORMAT, type EventRecord, recordOf } from './journal/record.ts';
import { removeExpiredDays } from './journal/retention.ts';
import type { ListenEvent, ListenerOptions, ListenSummary } from './listen-event.ts';
import { retryWhilePortIsTaken } from './open-port.ts';
import type { Delivery } from './receive/delivery.ts';
import { FailureReports } from './receive/failures.ts';
import { type Receiver, startReceiver } from './receive/receiver.ts';
import { RefusalBudget } from './receive/refusal-budget.ts';
import { keepTunnelOpen } from './tunnel.ts';

/**
 * Receives webhooks until the signal aborts, and yields what happens. A delivery is stored in the journal before it is
 * acknowledged and yielded. A slow consumer doesn't delay responses.
 * @throws UsageError before `ready` if it can't listen or write its journal; after the summary, the error of a tunnel that
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
  /** When `append` resolves, the record is on disk. */
  readonly #journal: DayJournal<EventRecord>;
  readonly #coverage: CoverageLog;
  readonly #forwarding: Forwarding;
  readonly #failures: FailureReports;
  readonly #refusals: RefusalBudget;
  readonly #health: Health;
  readonly #count: ListenSummary = { received: 0, verified: 0, refused: 0, duplicates: 0 };
  /** Warnings about damaged files, reported once it listens. */
  readonly #damaged: string[] = [];
  #inspector: Inspector | undefined;
  #healthServer: HealthServer | undefined;

  constructor(options: ListenerOptions, channel: Channel<ListenEvent>) {
    const { clock, eventsFolder, forwardsFolder, forwardTo, forwardTimeoutMs } = options;
    this.#options = options;
    this.#channel = channel;
    this.#journal = new DayJournal(eventsFolder, EVENTS_FORMAT, clock);
    this.#coverage = new CoverageLog(eventsFolder, this.#journal.name, clock);
    this.#failures = new FailureReports(clock, (message) => this.#warn(message));
    this.#refusals = new RefusalBudget(clock, (message) => this.#warn(message));
    this.#forwarding = new Forwarding({
      folder: forwardsFolder,
      urls: [...new Set(forwardTo)],
      timeoutMs: forwardTimeoutMs,
      clock,
      onResult: (result) => {
        this.#health.forwarded(result);
        this.#inspector?.forwarded(result);
        channel.push({ type: 'forward', result });
      },
      warn: (message) => this.#warn(message),
    });
    this.#health = new Health({
      clock,
      checkJournal: () => this.#journal.check(),
      forwarding: this.#forwarding.queue,
      ...options.health,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const receiver = await this.#start(signal);
    if (receiver !== undefined) this.#announce(receiver.url);
    const stopping = new AbortController();
    const over = AbortSignal.any([signal, stopping.signal]);
    const tidying = this.#tidy(over);
    const tunnel = receiver === undefined ? Promise.resolve() : this.#keepTunnelOpen(receiver.url, over);
    try {
      await Promise.race([aborted(signal), tunnel.then(() => aborted(signal))]);
    } finally {
      stopping.abort();
      this.#health.stopping();
      await this.#coverage.close();
      await receiver?.close();
      this.#failures.finish();
      await tidying;
      await this.#drain();
      await tunnel.catch(() => undefined);
      await this.#healthServer?.close();
      this.#channel.push({ type: 'summary', ...this.#count });
    }
  }

  /** Starts the receiver. Returns undefined if it was stopped before it could listen. */
  async #start(signal: AbortSignal): Promise<Receiver | undefined> {
    try {
      // Nothing may be acknowledged before the journal is open.
      await this.#journal.open();
      const seen = await this.#forwarding.recall(this.#journal.name, this.#options.eventsFolder, (message) =>
        this.#damaged.push(message),
      );
      if (this.#options.inspect?.isOpen) this.#inspector = await this.#inspect();
      const { health, host } = this.#options;
      if (health !== undefined)
        this.#healthServer = await startHealthServer(this.#health, { host, port: health.port });
      return await this.#receive(seen, signal);
    } catch (error) {
      await this.#forwarding.stop(0);
      await this.#inspector?.close();
      await this.#healthServer?.close();
      await this.#journal.close();
      throw error;
    }
  }

  /** Starts to receive. If the port is in use, fails immediately, or with health checks reports that and waits. */
  async #receive(seen: string[], signal: AbortSignal): Promise<Receiver | undefined> {
    const { clock, health } = this.#options;
    const start = async () => {
      const receiver = await startReceiver({
        ...this.#options,
        seen,
        onDelivery: (delivery) => this.#take(delivery),
        onFailure: (error) => this.#fail(error),
        onDropped: () => this.#drop(),
      });
      this.#health.port(undefined);
      return receiver;
    };
    if (signal.aborted) return undefined;
    if (health === undefined) return start();
    let isReported = false;
    return retryWhilePortIsTaken(start, { clock, signal }, (message) => {
      this.#health.port(message);
      const at = this.#healthServer?.url ?? '';
      if (!isReported) this.#warn(`${message} Retrying every second; health check: ${at}.`);
      isReported = true;
    });
  }

  /** Starts the inspector with today's deliveries. Its code is loaded only when it is needed. */
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

  async #openInspector(listensAt: string): Promise<Inspector | undefined> {
    this.#inspector ??= await this.#inspect();
    this.#inspector?.listensAt(listensAt);
    return this.#inspector;
  }

  /** Yields today's reported deliveries, newest first. */
  async *#today(): AsyncGenerator<EventRecord, void, undefined> {
    const { clock, eventsFolder } = this.#options;
    const since = new Date(clock.now()).setHours(0, 0, 0, 0);
    for await (const record of readEvents(eventsFolder, { since }))
      if (record.reason !== null || this.#isWanted(record.event)) yield record;
  }

  #announce(url: string): void {
    const { verify } = this.#options;
    this.#coverage.begin(url);
    this.#inspector?.listensAt(url);
    const [inspectorUrl, healthUrl] = [this.#inspector?.url, this.#healthServer?.url];
    this.#channel.push({ type: 'ready', url, verify, inspectorUrl, healthUrl });
    for (const message of this.#damaged.splice(0)) this.#warn(message);
    const { backlog: pending } = this.#forwarding;
    if (pending > 0) this.#channel.push({ type: 'backlog', pending });
    this.#forwarding.start();
    let opening: Promise<Inspector | undefined> | undefined;
    this.#options.onControls?.({
      tryForwardsNow: () => this.#forwarding.queue.retryNow(),
      openInspector: () => {
        opening ??= this.#openInspector(url);
        return opening;
      },
    });
  }

  /** Keeps the tunnel open until the signal aborts; without a tunnel, resolves immediately. @throws if the tunnel breaks permanently. */
  async #keepTunnelOpen(listensAt: string, signal: AbortSignal): Promise<void> {
    const { clock, tunnel: line, health } = this.#options;
    if (line === undefined) return;
    let tunnelUrl: string | undefined;
    await keepTunnelOpen(line, {
      listensAt,
      clock,
      signal,
      restarts: health !== undefined,
      onUp: (url) => {
        tunnelUrl = url;
        this.#coverage.begin(url);
        this.#health.tunnelUp();
        this.#channel.push({ type: 'tunnel', url });
      },
      onDown: (error, message) => {
        if (tunnelUrl !== undefined) this.#coverage.end(tunnelUrl);
        this.#health.tunnelDown(error);
        this.#warn(message);
      },
    });
  }

  /** Deletes old days of the journals. */
  async #tidy(signal: AbortSignal): Promise<void> {
    const { keepMs } = this.#options;
    if (keepMs === undefined) return;
    await removeExpiredDays({
      ...this.#options,
      keepMs,
      signal,
      onRemoved: (days) => this.#channel.push({ type: 'removed', days }),
      onFailure: (error) => this.#warn(messageOf(error)),
    });
  }

  /** Stores a delivery in the journal. It is acknowledged only after that. */
  async #take(delivery: Delivery): Promise<void> {
    const { reason, event, verified, duplicate, receivedAt } = delivery;
    const isWanted = this.#isWanted(event);
    const isTaken = reason === null && isWanted;
    const kept = reason === null ? delivery : this.#refusals.admit(delivery);
    const { downloadTo } = this.#options;
    const record =
      kept && recordOf(kept, isTaken ? { owedTo: this.#forwarding.queue.targets, downloadTo } : {});
    const place = record && (await this.#journal.append(record));
    this.#failures.succeeded();
    this.#health.received(delivery);
    this.#count.received++;
    this.#count.verified += Number(verified);
    this.#count.refused += Number(reason !== null);
    this.#count.duplicates += Number(duplicate);
    if (!kept || !record || !place || (reason === null && !isWanted)) return;
    this.#inspector?.received(record, this.#options.clock.now() - Date.parse(receivedAt));
    this.#channel.push({ type: 'delivery', delivery: kept, place });
    if (isTaken) this.#forwarding.enqueue(delivery, place);
  }

  /** Reports a delivery that got a 500. */
  #fail(error: unknown): void {
    this.#coverage.interrupt();
    this.#failures.failed(error);
    this.#health.failed(error);
  }

  #drop(): void {
    this.#coverage.interrupt();
    if (this.#health.dropped()) this.#warn('Too many open connections. New connections are being closed.');
  }

  async #drain(): Promise<void> {
    const { pending } = this.#forwarding.queue;
    if (pending > 0) this.#channel.push({ type: 'draining', pending });
    await this.#forwarding.stop(this.#options.drainMs);
    await this.#inspector?.close();
    const rest = this.#refusals.rest();
    if (rest) await this.#journal.append(recordOf(rest)).catch(() => undefined);
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
