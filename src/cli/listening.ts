import { join } from 'node:path';
import type { Client } from '../api/client.ts';
import { durationInWords } from '../kernel/duration.ts';
import {
  EndedOtherwiseError,
  messageOf,
  NetworkError,
  UsageError,
  WaitTimeoutError,
} from '../kernel/errors.ts';
import { stateDir } from '../kernel/paths.ts';
import { isTerminal } from '../kernel/vocabulary.ts';
import { deliveryLine, forwardLine, renderDelivery } from '../output/delivery-view.ts';
import { jsonText, writeJsonLine } from '../output/json.ts';
import { EventJournal, readEvents } from '../webhooks/event-journal.ts';
import { recordOf } from '../webhooks/event-record.ts';
import { Forwarder, type ForwardResult } from '../webhooks/forward.ts';
import type { Inspector } from '../webhooks/inspector/server.ts';
import { type Delivery, type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { downloadPapers } from './downloading.ts';
import { eventNames } from './event-flags.ts';
import { runCommand } from './exec-command.ts';
import { type InspectFlags, openInspector } from './inspecting.ts';
import { listenSecrets } from './listen-secrets.ts';
import { untilAborted } from './signals.ts';
import type { Surroundings } from './surroundings.ts';

export interface ListenFlags extends InspectFlags {
  port: number;
  host: string;
  path: string;
  'secret-file'?: string[] | undefined;
  'signature-header': string;
  events?: string | undefined;
  verify: boolean;
  'forward-to'?: string[] | undefined;
  'forward-timeout'?: number | undefined;
  drain?: number | undefined;
  exec?: string | undefined;
  envelope?: string | undefined;
  until?: string[] | undefined;
  wait?: number | undefined;
  download?: string | undefined;
}

const DEFAULT_DRAIN_MS = 10_000;
const DEFAULT_FORWARD_TIMEOUT_MS = 30_000;
/** Deliveries can be lost: an awaited envelope is also looked at this often. */
const LOOK_MS = 30_000;
/** How long the last deliveries of an envelope may take once the service says that it is over. */
const LAST_MS = 3_000;
const POLL_MS = 20;
/** Repeats come within a day. */
const REPEATS_MS = 86_400_000;

export function eventsFolder(): string {
  return join(stateDir(), 'events');
}

/** Receives webhooks until a signal comes, or until the awaited envelope has got there. */
export async function listenUntilStopped(flags: ListenFlags, around: Surroundings): Promise<void> {
  checkFlags(flags);
  const listener = new Listener(flags, around);
  const receiver = await listener.start();
  try {
    await listener.announce(receiver.url);
    await (flags.envelope === undefined
      ? untilAborted(around.signal)
      : listener.untilReached(flags.envelope));
  } finally {
    await listener.stop(receiver);
  }
}

function checkFlags(flags: ListenFlags): void {
  if (!flags.path.startsWith('/')) throw new UsageError(`--path "${flags.path}" must start with a slash.`);
  for (const url of flags['forward-to'] ?? []) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`--forward-to "${url}" is not an http or https address.`, {
        hint: 'Write it like http://localhost:3000/webhooks.',
      });
  }
}

class Listener {
  readonly #flags: ListenFlags;
  readonly #around: Surroundings;
  readonly #events: Set<string> | undefined;
  readonly #journal: EventJournal;
  readonly #forwarder: Forwarder;
  readonly #count = { received: 0, verified: 0, refused: 0, duplicates: 0 };
  readonly #downloaded = new Set<string>();
  #inspector: Inspector | undefined;
  #work: Promise<void> = Promise.resolve();
  #wake: (() => void) | undefined;
  #woken: Promise<void> = Promise.resolve();
  /** Events of the awaited envelope. */
  readonly #received = new Set<string>();

  constructor(flags: ListenFlags, around: Surroundings) {
    this.#flags = flags;
    this.#around = around;
    this.#events = eventNames(flags.events);
    this.#journal = new EventJournal(eventsFolder(), around.clock);
    this.#forwarder = new Forwarder({
      urls: flags['forward-to'] ?? [],
      timeoutMs: flags['forward-timeout'] ?? DEFAULT_FORWARD_TIMEOUT_MS,
      clock: around.clock,
      onResult: (result) => {
        this.#inspector?.forwarded(result);
        this.#tellForward(result);
      },
    });
  }

  async start(): Promise<Receiver> {
    const { host, port, path, verify } = this.#flags;
    const { clock } = this.#around;
    const none = () => Promise.resolve({ secrets: [], others: [] });
    const seen: string[] = [];
    for await (const record of readEvents(eventsFolder(), { since: clock.now() - REPEATS_MS }))
      if (record.reason === null) seen.push(record.id);
    const secretsFor = verify ? await listenSecrets(this.#flags['secret-file'], this.#around) : none;
    this.#inspector = await openInspector(this.#flags, eventsFolder(), this.#around, (result) =>
      this.#tellForward(result),
    );
    const starting = startReceiver({
      host,
      port,
      path,
      signatureHeader: this.#flags['signature-header'].toLowerCase(),
      secretsFor,
      verify,
      clock,
      seen: seen.reverse(),
      onDelivery: (delivery) => this.#take(delivery),
    });
    starting.catch(() => this.#inspector?.close());
    return starting;
  }

  async announce(url: string): Promise<void> {
    const { json, terminal } = this.#around;
    const { verify } = this.#flags;
    const inspector = this.#inspector;
    inspector?.listensAt(url);
    if (json) {
      const inspectorUrl = inspector && { inspectorUrl: inspector.url };
      await writeJsonLine({ type: 'ready', url, verify, ...inspectorUrl }, terminal);
      if (!verify) await writeJsonLine({ type: 'warning', message: 'Signatures are not checked.' }, terminal);
      return;
    }
    this.#around.notice(
      `Listening at ${url}. Give it as --webhook-url when you create an envelope. Ctrl-C stops.`,
    );
    if (inspector) this.#around.notice(`Inspect at ${inspector.url} (the link is a secret of this run).`);
    if (!verify)
      this.#around.notice('Signatures are not checked: anyone who reaches this address can make up events.');
  }

  /** Waits for the envelope: woken by its deliveries, and looking by itself from time to time. */
  async untilReached(id: string): Promise<void> {
    const { clock, signal } = this.#around;
    const until = this.#flags.until ?? ['COMPLETED'];
    const client = await this.#around.client();
    const deadline =
      this.#flags.wait === undefined ? Number.POSITIVE_INFINITY : clock.now() + this.#flags.wait;
    for (;;) {
      this.#woken = new Promise((resolve) => {
        this.#wake = resolve;
      });
      const status = await this.#statusOf(client, id);
      if (status !== undefined && (until.includes(status) || isTerminal(status)))
        return this.#finish(id, status, until);
      if (clock.now() >= deadline)
        throw new WaitTimeoutError(
          `${id} is still ${status ?? 'unknown'} after ${durationInWords(this.#flags.wait ?? 0)}.`,
        );
      await Promise.race([this.#woken, clock.sleep(Math.min(LOOK_MS, deadline - clock.now()), signal)]);
    }
  }

  /** The envelope is where it goes no further: its last deliveries may still be on their way. */
  async #finish(id: string, status: string, until: readonly string[]): Promise<void> {
    const last = `envelope.${status.toLowerCase()}`;
    const { clock, signal } = this.#around;
    for (const end = clock.now() + LAST_MS; !this.#received.has(last) && clock.now() < end; )
      await clock.sleep(POLL_MS, signal);
    await this.#work;
    if (!until.includes(status))
      throw new EndedOtherwiseError(`${id} is ${status}, not ${until.join(' or ')}.`, {
        hint: `See why: \`esign envelopes get ${id}\`.`,
      });
    if (status === 'COMPLETED') await this.#download(id);
  }

  /** Undefined while the service is away: deliveries may still come, and the next look may succeed. */
  async #statusOf(client: Client, id: string): Promise<string | undefined> {
    try {
      return (await client.envelopes.get(id, this.#around.signal)).status ?? undefined;
    } catch (error) {
      if (!(error instanceof NetworkError) || this.#around.signal.aborted) throw error;
      await this.#warn(error.message);
      return undefined;
    }
  }

  async stop(receiver: Receiver): Promise<void> {
    await receiver.close();
    if (this.#forwarder.pending > 0 && !this.#around.json)
      this.#around.notice('Waiting for what is being forwarded.');
    await this.#forwarder.drain(this.#flags.drain ?? DEFAULT_DRAIN_MS);
    await this.#work;
    await this.#inspector?.close();
    await this.#journal.close();
    const { received, verified, refused } = this.#count;
    if (this.#around.json) return writeJsonLine({ type: 'summary', ...this.#count }, this.#around.terminal);
    this.#around.notice(`Stopped. ${received} received, ${verified} verified, ${refused} refused.`);
  }

  /** In the journal first: only then may the sender be told that it arrived. */
  async #take(delivery: Delivery): Promise<void> {
    const record = recordOf(delivery);
    await this.#journal.append(record);
    this.#count.received++;
    this.#count.verified += Number(delivery.verified);
    this.#count.refused += Number(delivery.reason !== null);
    this.#count.duplicates += Number(delivery.duplicate);
    const { reason, facts, duplicate } = delivery;
    const isWanted = this.#events === undefined || this.#events.has(facts?.event ?? '');
    if (reason !== null || isWanted) {
      this.#inspector?.received(record, this.#around.clock.now() - Date.parse(delivery.receivedAt));
      this.#show(delivery);
    }
    if (reason !== null || !isWanted) return;
    if (facts?.envelopeId === this.#flags.envelope) {
      this.#received.add(facts?.event ?? '');
      this.#wake?.();
    }
    this.#forwarder.take({ ...delivery, envelopeId: facts?.envelopeId ?? null });
    if (!duplicate)
      this.#work = this.#work
        .then(() => this.#actOn(delivery))
        .catch((error: unknown) => this.#warn(messageOf(error)));
  }

  async #actOn(delivery: Delivery): Promise<void> {
    const { exec } = this.#flags;
    const { event, envelopeId } = delivery.facts ?? { event: null, envelopeId: null };
    if (exec !== undefined) {
      const env = {
        ESIGN_DELIVERY_ID: delivery.deliveryId,
        ESIGN_EVENT: event ?? '',
        ESIGN_ENVELOPE_ID: envelopeId ?? '',
      };
      const { code, signal } = await runCommand(exec, `${jsonText(deliveryLine(delivery))}\n`, env);
      if (code !== 0)
        await this.#warn(
          `The command for ${event ?? 'an event'} ended with ${signal ?? code ?? 'an error'}.`,
        );
    }
    const isDone = event === 'envelope.completed' && envelopeId !== null && delivery.verified;
    if (isDone) await this.#download(envelopeId);
  }

  async #download(envelopeId: string): Promise<void> {
    const { download } = this.#flags;
    if (download === undefined || this.#downloaded.has(envelopeId)) return;
    this.#downloaded.add(envelopeId);
    await downloadPapers(envelopeId, download, this.#around);
  }

  #tellForward(result: ForwardResult): void {
    void this.#write(forwardLine(result, this.#around.terminal, this.#around.json));
  }

  #show(delivery: Delivery): void {
    const { json, terminal } = this.#around;
    void this.#write(json ? `${jsonText(deliveryLine(delivery))}\n` : renderDelivery(delivery, terminal));
  }

  async #warn(message: string): Promise<void> {
    if (!this.#around.json) return this.#around.notice(message);
    await this.#write(`${jsonText({ type: 'warning', message })}\n`);
  }

  #write(text: string): Promise<void> {
    return this.#around.hidingSecrets().out(text);
  }
}
