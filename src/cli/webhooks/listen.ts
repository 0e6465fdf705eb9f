import { counted, grouped } from '../../kernel/duration.ts';
import { messageOf, UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/paths.ts';
import { preferLowMemory } from '../../kernel/v8-flags.ts';
import { jsonText, writeJsonLine } from '../../output/json.ts';
import { Forwarding, forwardsFolder } from '../../webhooks/forward/backlog.ts';
import { FORWARDED_FOR_MS } from '../../webhooks/forward/queue.ts';
import type { ForwardResult } from '../../webhooks/forward/send.ts';
import type { Inspector } from '../../webhooks/inspector/server.ts';
import { EventJournal } from '../../webhooks/journal/event-journal.ts';
import { recordOf } from '../../webhooks/journal/record.ts';
import { removeOldDays } from '../../webhooks/journal/retention.ts';
import type { Delivery } from '../../webhooks/receive/delivery.ts';
import { Failures } from '../../webhooks/receive/failures.ts';
import { type Receiver, startReceiver } from '../../webhooks/receive/receiver.ts';
import { openTunnel, type Tunnel } from '../../webhooks/tunnel.ts';
import type { Context } from '../context.ts';
import { downloadPapers } from '../documents/download.ts';
import { runCommand } from '../input/run-command.ts';
import { AwaitedEnvelope } from '../listen-awaiting.ts';
import { untilAborted } from '../signals.ts';
import { deliveryLine, forwardLine, renderDelivery } from './delivery-view.ts';
import { eventNames } from './event-flags.ts';
import { type InspectFlags, openInspector } from './inspect.ts';
import { listenSecrets } from './listen-secrets.ts';

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
  keep?: number | undefined;
  tunnel?: string | undefined;
}

const DEFAULT_DRAIN_MS = 10_000;
const DEFAULT_FORWARD_TIMEOUT_MS = 30_000;
/** Repeats come within a day. */
const REPEATS_MS = 86_400_000;

/** Receives webhooks until a signal comes, or until the awaited envelope has got there. */
export async function listenUntilStopped(flags: ListenFlags, context: Context): Promise<void> {
  preferLowMemory();
  checkFlags(flags);
  const listener = new Listener(flags, context);
  const receiver = await listener.start();
  let tunnel: Tunnel | undefined;
  try {
    await listener.announce(receiver.url);
    await listener.goOn();
    tunnel = await listener.expose(receiver.url);
    const broken = tunnel?.broken ?? new AbortController().signal;
    await listener.untilOver(AbortSignal.any([context.signal, broken]));
    broken.throwIfAborted();
  } finally {
    await listener.stop(receiver);
    await tunnel?.close();
  }
}

function checkFlags(flags: ListenFlags): void {
  if (!flags.path.startsWith('/'))
    throw new UsageError(`--path "${flags.path}" must start with a slash.`, {
      hint: 'Write it like --path /webhooks.',
    });
  for (const url of flags['forward-to'] ?? []) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`--forward-to "${url}" is not an http or https address.`, {
        hint: 'Write it like http://localhost:3000/webhooks.',
      });
  }
}

class Listener {
  readonly awaited: AwaitedEnvelope | undefined;
  readonly #flags: ListenFlags;
  readonly #context: Context;
  readonly #events: Set<string> | undefined;
  readonly #journal: EventJournal;
  readonly #forwarding: Forwarding;
  readonly #count = { received: 0, verified: 0, refused: 0, duplicates: 0 };
  readonly #downloaded = new Set<string>();
  readonly #ended = new AbortController();
  readonly #failures: Failures;
  #inspector: Inspector | undefined;
  #tidying: Promise<void> = Promise.resolve();
  #work: Promise<void> = Promise.resolve();
  #unwritten = '';
  #writing: Promise<void> | undefined;

  constructor(flags: ListenFlags, context: Context) {
    this.#flags = flags;
    this.#context = context;
    this.#events = eventNames(flags.events);
    this.#journal = new EventJournal(eventsDir(), context.clock);
    const { envelope: id, until, wait: waitMs } = flags;
    const warn = (message: string) => this.#warn(message);
    this.#failures = new Failures(context.clock, (message) => void warn(message));
    if (id !== undefined) this.awaited = new AwaitedEnvelope({ id, until, waitMs }, context.clock, warn);
    this.#forwarding = new Forwarding({
      urls: [...new Set(flags['forward-to'])],
      timeoutMs: flags['forward-timeout'] ?? DEFAULT_FORWARD_TIMEOUT_MS,
      clock: context.clock,
      onResult: (result) => {
        this.#inspector?.forwarded(result);
        this.#tellForward(result);
      },
      warn,
    });
  }

  async start(): Promise<Receiver> {
    const { host, port, path, verify } = this.#flags;
    const { clock } = this.#context;
    const none = () => Promise.resolve({ secrets: [], others: [] });
    const secretsFor = verify ? await listenSecrets(this.#flags['secret-file'], this.#context) : none;
    // Before anything is promised to a sender.
    await this.#journal.open();
    try {
      const seen = await this.#recall();
      this.#inspector = await openInspector(this.#flags, eventsDir(), this.#context, (result) =>
        this.#tellForward(result),
      );
      return await startReceiver({
        host,
        port,
        path,
        signatureHeader: this.#flags['signature-header'].toLowerCase(),
        secretsFor,
        verify,
        clock,
        seen,
        onDelivery: (delivery) => this.#take(delivery),
        onFailure: (error) => this.#failures.failed(error),
      });
    } catch (error) {
      await this.#forwarding.stop(0);
      await this.#inspector?.close();
      throw error;
    }
  }

  /** Reads the journal: the ids received lately, the oldest first; and what is still to be forwarded. */
  async #recall(): Promise<string[]> {
    const now = this.#context.clock.now();
    const span = this.#forwarding.targets.length > 0 ? 2 * FORWARDED_FOR_MS : REPEATS_MS;
    const seen: { receivedAt: string; id: string }[] = [];
    const recent = new Date(now - REPEATS_MS).toISOString();
    await this.#forwarding.recall(this.#journal.name, eventsDir(), now - span, (record) => {
      const { reason, receivedAt, id } = record;
      if (reason === null && receivedAt >= recent) seen.push({ receivedAt, id });
    });
    return seen.sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1)).map(({ id }) => id);
  }

  async announce(url: string): Promise<void> {
    const { json, terminal } = this.#context;
    const { verify } = this.#flags;
    const inspector = this.#inspector;
    inspector?.listensAt(url);
    if (json) {
      const inspectorUrl = inspector && { inspectorUrl: inspector.url };
      await writeJsonLine({ type: 'ready', url, verify, ...inspectorUrl }, terminal);
      if (!verify) await writeJsonLine({ type: 'warning', message: 'Signatures are not checked.' }, terminal);
      return;
    }
    const next =
      this.#flags.tunnel === undefined
        ? 'Give it as --webhook-url when you create an envelope.'
        : 'Starting the tunnel.';
    this.#context.notice(`Listening at ${url}. ${next} Ctrl-C stops.`);
    if (inspector) this.#context.notice(`Inspect at ${inspector.url} (the link is a secret of this run).`);
    if (!verify)
      this.#context.notice('Signatures are not checked: anyone who reaches this address can make up events.');
  }

  /** Forwards what an earlier run could not, and removes what is older than --keep. */
  async goOn(): Promise<void> {
    if (this.#flags.keep !== undefined)
      this.#tidying = removeOldDays({
        eventsFolder: eventsDir(),
        forwardsFolder: forwardsFolder(),
        keepMs: this.#flags.keep,
        clock: this.#context.clock,
        signal: this.#ended.signal,
        onRemoved: (days) =>
          void this.#tell({ type: 'removed', days }, `Removed ${counted(days, 'old day')} of webhooks.`),
        onFailure: (error) => void this.#warn(messageOf(error)),
      });
    const { backlog: pending } = this.#forwarding;
    if (pending > 0)
      await this.#tell(
        { type: 'backlog', pending },
        `Still to be forwarded from an earlier run: ${grouped(pending)}.`,
      );
    this.#forwarding.start();
  }

  /** Opens the tunnel, where one is asked for, and says where it begins. */
  async expose(listensAt: string): Promise<Tunnel | undefined> {
    const { clock, signal } = this.#context;
    if (this.#flags.tunnel === undefined) return undefined;
    const tunnel = await openTunnel(this.#flags.tunnel, { listensAt, clock, signal });
    const { url } = tunnel;
    await this.#tell({ type: 'tunnel', url }, `Reachable at ${url} from outside. Give it as --webhook-url.`);
    return tunnel;
  }

  /** Waits for the signal; or for the envelope, and fetches its papers once it is completed. */
  async untilOver(signal: AbortSignal): Promise<void> {
    const { awaited } = this;
    if (awaited === undefined) return untilAborted(signal);
    const status = await awaited.reached(await this.#context.client(), signal);
    await this.#work;
    awaited.check(status);
    if (status === 'COMPLETED') await this.#download(awaited.id);
  }

  async stop(receiver: Receiver): Promise<void> {
    this.#ended.abort(new Error('stopped'));
    await receiver.close();
    this.#failures.finish();
    await this.#tidying;
    if (this.#forwarding.pending > 0 && !this.#context.json)
      this.#context.notice('Waiting for what is being forwarded.');
    await this.#forwarding.stop(this.#flags.drain ?? DEFAULT_DRAIN_MS);
    await this.#work;
    await this.#inspector?.close();
    await this.#journal.close();
    const { received, verified, refused } = this.#count;
    await this.#writing;
    if (this.#context.json) return writeJsonLine({ type: 'summary', ...this.#count }, this.#context.terminal);
    this.#context.notice(`Stopped. ${received} received, ${verified} verified, ${refused} refused.`);
  }

  /** In the journal first: only then may the sender be told that it arrived. */
  async #take(delivery: Delivery): Promise<void> {
    const { reason, facts, duplicate } = delivery;
    const isWanted = this.#events === undefined || this.#events.has(facts?.event ?? '');
    const owedTo = reason === null && isWanted ? this.#forwarding.targets : [];
    const record = recordOf(delivery, owedTo);
    const place = await this.#journal.append(record);
    this.#failures.taken();
    this.#count.received++;
    this.#count.verified += Number(delivery.verified);
    this.#count.refused += Number(delivery.reason !== null);
    this.#count.duplicates += Number(delivery.duplicate);
    if (reason !== null || isWanted) {
      this.#inspector?.received(record, this.#context.clock.now() - Date.parse(delivery.receivedAt));
      this.#show(delivery);
    }
    if (reason !== null || !isWanted) return;
    if (facts?.envelopeId === this.awaited?.id) this.awaited?.heard(facts?.event ?? '');
    this.#forwarding.take(delivery, place);
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
    await downloadPapers(envelopeId, download, this.#context);
  }

  #tellForward(result: ForwardResult): void {
    void this.#write(forwardLine(result, this.#context.terminal, this.#context.json));
  }

  #show(delivery: Delivery): void {
    const { json, terminal } = this.#context;
    void this.#write(json ? `${jsonText(deliveryLine(delivery))}\n` : renderDelivery(delivery, terminal));
  }

  #warn(message: string): Promise<void> {
    return this.#tell({ type: 'warning', message }, message);
  }

  async #tell(line: Record<string, unknown>, words: string): Promise<void> {
    if (!this.#context.json) return this.#context.notice(words);
    await this.#write(`${jsonText(line)}\n`);
  }

  /** Lines that come at once are written at once. */
  #write(text: string): Promise<void> {
    this.#unwritten += text;
    this.#writing ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      const lines = this.#unwritten;
      this.#unwritten = '';
      this.#writing = undefined;
      return this.#context.hidingSecrets().out(lines);
    });
    return this.#writing;
  }
}
