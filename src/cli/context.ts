import { join } from 'node:path';
import type { Client } from '../api/client.ts';
import { ServiceClock } from '../api/service-clock.ts';
import type { FindMeant } from '../api/subject.ts';
import { noting } from '../completion/recent.ts';
import type { Bucket, BucketExchange } from '../documents/bucket/bucket.ts';
import type { EnvelopeIndex } from '../envelope-index/envelope-index.ts';
import { openFeed } from '../envelope-index/feed.ts';
import { observed } from '../envelope-index/observed.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { sentenceOf } from '../kernel/errors.ts';
import { configDir, stateDir } from '../kernel/files/paths.ts';
import { startCountdown } from '../output/countdown.ts';
import { jsonText } from '../output/json.ts';
import { errColumns, processTerminal, type Terminal } from '../output/terminal.ts';
import { paragraph, safeLine } from '../output/text.ts';
import { waitingSign } from '../output/waiting-sign.ts';
import { presentKey } from '../profiles/key-place.ts';
import type { Profile } from '../profiles/profile.ts';
import { requireConnection, resolveSettings, type Settings } from '../profiles/resolve.ts';
import { readProfiles } from '../profiles/store.ts';
import type { SandboxControl } from '../sandbox-control/control.ts';
import { noted, redactor, signals } from './boot/process.ts';
import { indexScopeOf, meantIn, scopeOf } from './boot/recents.ts';
import { type Traced, traceText } from './boot/trace.ts';

export interface ContextFlags {
  json?: boolean;
  jsonl?: boolean;
  profile?: string | undefined;
  'base-url'?: string | undefined;
  timeout?: string | undefined;
  'no-input'?: boolean;
  'no-spinner'?: boolean;
  'no-wait'?: boolean;
  debug?: boolean;
}

/** How a run treats the rate window of its key. */
export interface Pacing {
  /** The part of the window, 0 to 1, that is left for others. */
  reserve?: number;
  /** The longest wait for a new window, in ms; --no-wait makes it none. */
  maxWaitMs?: number;
  /** How long a write that was sent is seen to after a stop, in ms; a moment unless told otherwise. */
  graceMs?: number;
  /** Told of each wait, instead of the person who watches. */
  onWait?: (wait: { ms: number; error: Error }) => void;
}

/** How long the reply to a write is waited for once the command is to stop, in ms. */
const REPLY_GRACE_MS = 2_000;

/** Shorter waits need no countdown, in ms. */
const SHORT_MS = 1_000;

/** What a command may use: streams, clock, settings, the client. Each is made when first asked for. */
export class Context {
  readonly terminal: Terminal;
  readonly clock: Clock = systemClock;
  readonly #serviceClock = new ServiceClock(this.clock);
  /** Aborts at Ctrl-C. */
  readonly signal = signals.signal;
  readonly redactor = redactor;
  readonly json: boolean;
  readonly #flags: ContextFlags;
  /** Of esign. */
  readonly version: string;
  #resolved: Promise<Settings> | undefined;
  #connected: Promise<Client> | undefined;
  #countsDown = false;

  constructor(flags: ContextFlags, version: string) {
    this.#flags = flags;
    this.version = version;
    this.json = (flags.json || flags.jsonl) ?? false;
    this.terminal = processTerminal({ noInput: flags['no-input'], noSpinner: flags['no-spinner'] });
  }

  /** A line on stderr for the person who watches: data never goes there, and it is said in pipes, too. */
  notice(text: string): void {
    this.terminal.err(`${paragraph(this.redactor.redact(safeLine(text)), errColumns())}\n`);
  }

  /** The service's time, by which its envelopes age; the machine's until a reply has told it. */
  now(): number {
    return this.#serviceClock.now();
  }

  /** The terminal for output that repeats what the user gave, which may hold a secret. */
  hidingSecrets(): Terminal {
    const { terminal, redactor: hide } = this;
    return { ...terminal, out: (text) => terminal.out(typeof text === 'string' ? hide.redact(text) : text) };
  }

  /** One object of a stream, as a line of JSON without secrets. */
  jsonLine(value: unknown): Promise<void> {
    return this.terminal.out(this.redactor.redact(`${jsonText(value)}\n`));
  }

  /** Where this run works: flag before environment before profile before default. */
  settings(options: { fallbackProfile?: string } = {}): Promise<Settings> {
    this.#resolved ??= this.#resolve(options.fallbackProfile);
    return this.#resolved;
  }

  async #resolve(fallbackProfile: string | undefined): Promise<Settings> {
    const { env } = process;
    const selfSufficient =
      env.ESIGN_BASE_URL && env.ESIGN_API_KEY && !env.ESIGN_PROFILE && !this.#flags.profile;
    const store = selfSufficient ? { current: undefined, profiles: {} } : readProfiles(configDir());
    const settings = resolveSettings({
      flags: { profile: this.#flags.profile, baseUrl: this.#flags['base-url'], timeout: this.#flags.timeout },
      env,
      store,
      fallbackProfile,
    });
    redactor.add(settings.apiKey?.kind === 'key' ? settings.apiKey.value : undefined);
    redactor.add(settings.storage.secretAccessKey);
    return settings;
  }

  /** The client of the service; how it paces itself is decided by the first call. */
  client(pacing: Pacing = {}): Promise<Client> {
    this.#connected ??= this.#connect(pacing);
    return this.#connected;
  }

  async #connect(pacing: Pacing): Promise<Client> {
    const settings = await this.settings();
    const { baseUrl, apiKey } = requireConnection(settings);
    const windowFolder = join(stateDir(), 'rate');
    noted.scope = scopeOf(settings);
    const client = await this.#clientFor(baseUrl, apiKey, settings.timeoutMs.value, {
      ...pacing,
      windowFolder,
      findMeant: meantIn(() => this.client(), noted),
    });
    const scope = indexScopeOf(settings);
    if (scope === undefined) return observed(client, [noting(noted.recents)]);
    const fed = openFeed(stateDir(), scope, client, noting(noted.recents));
    noted.feed = fed.feed;
    return fed.client;
  }

  /** What is known of the service's envelopes; undefined where nothing is kept of them. */
  async index(): Promise<EnvelopeIndex | undefined> {
    const scope = indexScopeOf(await this.settings());
    const client = await this.client();
    const { feed } = noted;
    if (scope === undefined || feed === undefined) return undefined;
    const { EnvelopeIndex } = await import('../envelope-index/envelope-index.ts');
    return new EnvelopeIndex(stateDir(), scope, { feed, client });
  }

  /** The profile's bucket; whoever opens it closes it. */
  async bucket(): Promise<Bucket> {
    const { storage, timeoutMs } = await this.settings();
    const { openBucket } = await import('../documents/bucket/bucket.ts');
    const trace = (exchange: BucketExchange) =>
      this.#trace({ ...exchange, rate: undefined, requestBody: undefined, replyBody: undefined });
    return openBucket(storage, { timeoutMs: timeoutMs.value, trace: this.#flags.debug ? trace : undefined });
  }

  /** A client for a profile that is not the one in use, such as one about to be stored. */
  clientOf(profile: Profile): Promise<Client> {
    const settings = resolveSettings({
      flags: { timeout: this.#flags.timeout, profile: 'given' },
      env: { ESIGN_TIMEOUT: process.env.ESIGN_TIMEOUT },
      store: { current: undefined, profiles: { given: profile } },
    });
    const { baseUrl, apiKey } = requireConnection(settings);
    return this.#clientFor(baseUrl, apiKey, settings.timeoutMs.value);
  }

  /** The control plane of a running sandbox: its own profile, unless another one is named. */
  async sandbox(): Promise<SandboxControl> {
    const settings = await this.settings({ fallbackProfile: 'sandbox' });
    const { baseUrl, apiKey } = requireConnection(settings);
    const { controlUrl, sandboxControl } = await import('../sandbox-control/control.ts');
    const client = await this.#clientFor(controlUrl(baseUrl), apiKey, settings.timeoutMs.value);
    return sandboxControl(client.send);
  }

  async #clientFor(
    baseUrl: string,
    apiKey: NonNullable<Settings['apiKey']>,
    timeoutMs: number,
    options: Pacing & { windowFolder?: string; findMeant?: FindMeant } = {},
  ): Promise<Client> {
    const key = await presentKey(apiKey, this.signal);
    redactor.add(key);
    const { createClient } = await import('../api/client.ts');
    return createClient({
      baseUrl,
      apiKey: key,
      timeoutMs,
      userAgent: `esign-cli/${this.version}`,
      clock: this.clock,
      serviceClock: this.#serviceClock,
      graceMs: REPLY_GRACE_MS,
      onRequest: (reads) => this.showWaiting(waitingText(reads, new URL(baseUrl).host)),
      trace: this.#flags.debug ? (entry) => this.#trace(entry) : undefined,
      onWait: ({ ms, error }) => this.#showWait(ms, error),
      ...options,
      ...(this.#flags['no-wait'] ? { maxWaitMs: 0 } : {}),
    });
  }

  /** Shows on a terminal that something is waited for, when that takes long, until what is returned is called. */
  showWaiting(text: string, { atOnce }: { atOnce?: boolean } = {}): () => void {
    const { errIsTty, still, styleErr } = this.terminal;
    // A terminal without columns (some CI systems have one) has no lines to move on.
    if (!errIsTty || !process.stderr.columns) return () => undefined;
    const paint = (frame: string) => styleErr('cyan', frame);
    const moves = !still;
    // With --json what stays on stderr is the error alone.
    if (!moves && this.json) return () => undefined;
    return waitingSign.begin({ text: safeLine(text), moves, paint, atOnce });
  }

  /** The same while this is done. */
  async waiting<T>(text: string, work: () => Promise<T>, how: { atOnce?: boolean } = {}): Promise<T> {
    const over = this.showWaiting(text, how);
    try {
      return await work();
    } finally {
      over();
    }
  }

  /** One wait is shown at a time, since all requests of a run wait for the same window or service. */
  #showWait(ms: number, error: Error): void {
    if (ms < SHORT_MS) {
      void this.waiting(`Trying again: ${sentenceOf(error)}`, () => this.clock.sleep(ms, this.signal)).catch(
        () => undefined,
      );
      return;
    }
    // With --json stderr is for the error alone.
    if (this.json || this.#countsDown) return;
    this.#countsDown = true;
    const stop = startCountdown(this.redactor.redact(sentenceOf(error)), ms, this.terminal);
    const done = () => {
      this.#countsDown = false;
      stop();
    };
    this.clock.sleep(ms, this.signal).then(done, done);
  }

  #trace(entry: Traced): void {
    this.terminal.err(traceText(entry, (text) => this.redactor.redact(text)));
  }
}

function waitingText(reads: boolean, host: string): string {
  return reads ? `Waiting for ${host}` : `Sent; waiting for the answer of ${host}`;
}
