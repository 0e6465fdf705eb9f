import { Channel } from '../kernel/async/channel.ts';
import { aborted } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { messageOf } from '../kernel/errors.ts';
import { DayJournal, removeOldDays } from '../lines/day-journal.ts';
import { DailyLimit } from './daily-limit.ts';
import { Forwarding } from './forward/forwarding.ts';
import { Health, type HealthServer, startHealthServer } from './health.ts';
import type { Inspector } from './inspector/server.ts';
import { RETENTION_MS, readEvents } from './journal/event-journal.ts';
import { EVENTS_FORMAT, type EventRecord, type JournalEntry, recordFromDelivery } from './journal/record.ts';
import { FORWARD_TIMEOUT_MS, STOP_TIMEOUT_MS } from './listen-defaults.ts';
import type { ListenEvent, ListenerOptions, ListenSummary } from './listen-event.ts';
import { ListenerWarnings } from './listener-warnings.ts';
import { type Delivery, isAccepted } from './receive/delivery.ts';
import { type Receiver, startReceiver } from './receive/receiver.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

/**
 * Receives webhooks until the signal aborts, and yields what happens. A delivery is stored in the journal before it is
 * acknowledged and yielded. A slow consumer doesn't delay responses.
 * @throws UsageError before `ready` if it can't listen or write its journal; after the summary, the error of a tunnel that
 * ended.
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

/** The number of refused deliveries recorded per day (UTC), about 17 MB at most. A wrong secret is noticed long before. */
const MAX_RECORDED_REFUSALS = { count: 1_000, bytes: Number.POSITIVE_INFINITY };
/** The number of repeats recorded per day, and of the bytes in them. Anyone who has seen a delivery can repeat it. */
const MAX_RECORDED_REPEATS = { count: 1_000, bytes: 32 * 1024 * 1024 };

class Listener {
  readonly #options: ListenerOptions;
  readonly #channel: Channel<ListenEvent>;
  /** When `append` resolves, the entry is on disk. */
  readonly #journal: DayJournal<JournalEntry>;
  readonly #forwarding: Forwarding;
  readonly #health: Health;
  readonly #count: ListenSummary = { received: 0, verified: 0, refused: 0, duplicates: 0 };
  readonly #warnings: ListenerWarnings;
  readonly #refusals: DailyLimit;
  readonly #repeats: DailyLimit;
  #inspector: Inspector | undefined;
  #healthServer: HealthServer | undefined;

  constructor(options: ListenerOptions, channel: Channel<ListenEvent>) {
    const { clock, eventsFolder, forwardTo, tunnel, verify } = options;
    this.#options = options;
    this.#channel = channel;
    this.#journal = new DayJournal(eventsFolder, EVENTS_FORMAT, clock);
    const warn = (message: string) => this.#warn(message);
    this.#warnings = new ListenerWarnings(options.path, clock, warn);
    this.#refusals = new DailyLimit(clock, MAX_RECORDED_REFUSALS);
    this.#repeats = new DailyLimit(clock, MAX_RECORDED_REPEATS);
    this.#forwarding = new Forwarding({
      journal: this.#journal,
      urls: [...new Set(forwardTo)],
      verify,
      clock,
      onResult: (result) => {
        this.#inspector?.board.addForward(result, false);
        channel.push({ type: 'forward', result });
      },
      warn,
    });
    this.#health = new Health({
      clock,
      checkJournal: () => this.#journal.check(),
      oldestForward: () => this.#forwarding.oldest,
      hasTunnel: tunnel !== undefined,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const receiver = await this.#start();
    const stopping = new AbortController();
    const over = AbortSignal.any([signal, stopping.signal]);
    const removing = this.#removeOldDeliveries(over);
    const tunnel = this.#runTunnel(receiver.url, over);
    try {
      await Promise.race([aborted(signal), tunnel]);
    } finally {
      stopping.abort();
      await receiver.close();
      await removing;
      await this.#stop();
      await tunnel.catch(() => undefined);
      this.#channel.push({ type: 'summary', ...this.#count });
    }
  }

  async #start(): Promise<Receiver> {
    const { eventsFolder, verify, healthPort, host, inspect } = this.#options;
    const damaged: string[] = [];
    try {
      // Nothing may be acknowledged before the journal is open.
      await this.#journal.open();
      const seen = await this.#forwarding.recall(eventsFolder, (message) => damaged.push(message));
      if (inspect) this.#inspector = await this.#inspect();
      if (healthPort !== undefined)
        this.#healthServer = await startHealthServer(this.#health, { host, port: healthPort });
      const receiver = await startReceiver({
        ...this.#options,
        seen,
        onDelivery: (delivery) => this.#take(delivery),
        onFailure: (error) => this.#warnings.notStored(error),
        onElsewhere: (path) => {
          this.#countUnread();
          this.#warnings.elsewhere(path);
        },
        onUnread: (status) => {
          this.#countUnread();
          this.#warnings.unread(status);
        },
        onUnreadable: (fault) => {
          this.#countUnread();
          this.#warnings.unreadable(fault);
        },
        onCrowded: () => {
          this.#health.closedConnection();
          this.#warnings.crowded();
        },
      });
      const { url } = receiver;
      if (this.#inspector) this.#inspector.board.listensAt = url;
      const [inspectorUrl, healthUrl] = [this.#inspector?.url, this.#healthServer?.url];
      this.#channel.push({ type: 'ready', url, verify, inspectorUrl, healthUrl });
      for (const message of damaged) this.#warn(message);
      this.#forwarding.start();
      return receiver;
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  /** Starts the inspector with today's deliveries. Its code is loaded only when it is needed. */
  async #inspect(): Promise<Inspector> {
    const { forwardTo } = this.#options;
    const { startInspector } = await import('./inspector/server.ts');
    return startInspector({
      ...this.#options,
      targets: forwardTo,
      timeoutMs: FORWARD_TIMEOUT_MS,
      earlier: this.#today(),
      onReplay: (result) => this.#channel.push({ type: 'forward', result }),
    });
  }

  /** Yields today's reported deliveries, newest first. */
  async *#today(): AsyncGenerator<EventRecord, void, undefined> {
    const { clock, eventsFolder } = this.#options;
    const since = new Date(clock.now()).setHours(0, 0, 0, 0);
    for await (const record of readEvents(eventsFolder, { since }))
      if (!isAccepted(record) || this.#isWanted(record.event)) yield record;
  }

  /** Runs the tunnel until the signal aborts; without a tunnel, waits for the signal. @throws when the tunnel ends by itself */
  async #runTunnel(listensAt: string, signal: AbortSignal): Promise<void> {
    const { clock, tunnel: line } = this.#options;
    if (line === undefined) return aborted(signal);
    let tunnel: Tunnel | undefined;
    try {
      tunnel = await openTunnel(line, { listensAt, clock, signal });
      this.#health.tunnelOpened();
      this.#channel.push({ type: 'tunnel', url: tunnel.url });
      await Promise.race([aborted(signal), tunnel.ended]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await tunnel?.close();
    }
  }

  /** Deletes expired deliveries, immediately and then once a day. */
  async #removeOldDeliveries(signal: AbortSignal): Promise<void> {
    const { clock, eventsFolder } = this.#options;
    while (!signal.aborted) {
      await removeOldDays(eventsFolder, clock.now() - RETENTION_MS).catch((error: unknown) =>
        this.#warn(messageOf(error)),
      );
      await clock.sleep(DAY_MS, signal).catch(() => undefined);
    }
  }

  /** Stores a delivery in the journal. It is acknowledged only after that. */
  async #take(delivery: Delivery): Promise<void> {
    const { event, verified, duplicate, receivedAt } = delivery;
    const isRecorded = this.#isRecorded(delivery);
    const isForwarded = isAccepted(delivery) && this.#isWanted(event);
    const record = recordFromDelivery(delivery, isForwarded ? this.#forwarding.targets : []);
    const place = isRecorded ? await this.#journal.append(record) : undefined;
    this.#health.received(delivery);
    this.#count.received++;
    this.#count.verified += Number(verified);
    this.#count.refused += Number(!isAccepted(delivery));
    this.#count.duplicates += Number(duplicate);
    if (place === undefined || (isAccepted(delivery) && !isForwarded)) return;
    this.#inspector?.board.addDelivery(record, this.#options.clock.now() - Date.parse(receivedAt));
    this.#channel.push({ type: 'delivery', delivery, place });
    if (isForwarded) this.#forwarding.enqueue(record, place);
  }

  /** Returns whether to record a delivery. Anyone can send invalid ones and repeat valid ones, so they must not fill the disk. */
  #isRecorded(delivery: Delivery): boolean {
    const { duplicate, bytes } = delivery;
    if (isAccepted(delivery) && !duplicate) return true;
    const limit = duplicate ? this.#repeats : this.#refusals;
    if (limit.allows(bytes)) return true;
    this.#warnings.unrecorded(duplicate ? 'repeated' : 'refused');
    return false;
  }

  /** Counts a request that was refused before it was read to the end. */
  #countUnread(): void {
    this.#count.received++;
    this.#count.refused++;
  }

  /** Waits for open forwards and reports what is left. */
  async #stop(): Promise<void> {
    this.#warnings.end();
    if (this.#forwarding.pending > 0)
      this.#channel.push({
        type: 'notice',
        message: 'Waiting for open forwards. Press Ctrl-C again to stop now.',
      });
    await this.#forwarding.stop(STOP_TIMEOUT_MS);
    await this.#close();
  }

  async #close(): Promise<void> {
    await this.#inspector?.close();
    await this.#healthServer?.close();
    await this.#journal.close().catch(() => undefined);
  }

  #isWanted(event: string | null): boolean {
    const { events } = this.#options;
    return events === undefined || events.has(event ?? '');
  }

  #warn(message: string): void {
    this.#channel.push({ type: 'warning', message });
  }
}
