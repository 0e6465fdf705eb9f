import type { Client, ClientOptions } from '../../api/client.ts';
import type { SandboxControl } from '../../api/sandbox-control.ts';
import { ServiceClock } from '../../api/service-clock.ts';
import { userAgentOf } from '../../api/user-agent.ts';
import type { OpenGate } from '../../api/write-gate.ts';
import { FileStore } from '../../catalog/index/file-store.ts';
import { IndexWriter } from '../../catalog/index/index-writer.ts';
import type { IndexedAccount } from '../../catalog/index/search-index.ts';
import { type Clock, clockOfCommand } from '../../kernel/clock.ts';
import { sentenceOf } from '../../kernel/errors.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import { startCountdown } from '../../output/countdown.ts';
import type { Profile } from '../../settings/profile.ts';
import { requireConnection, resolveSettings, type Settings } from '../../settings/resolve.ts';
import { readProfiles } from '../../settings/store.ts';
import { type TracedRequest, traceText } from '../boot/trace.ts';
import { noteEnvelope, noteTemplate } from '../completion/recent.ts';
import type { CommandTerminal } from '../terminal.ts';
import { accountFlags } from './account.ts';
import type { Invocation } from './invocation.ts';
import { indexPathOf, indexScopeOf, similarIdsFinder } from './seen-data.ts';

export interface SessionFlags {
  profile?: string | undefined;
  'base-url'?: string | undefined;
  timeout?: string | undefined;
  'no-wait'?: boolean;
  debug?: boolean;
  confirm?: string | undefined;
}

/** How a client uses the rate window of its key. Requests and waits with a function here are not shown on the terminal. */
export type RateSettings = Pick<ClientOptions, 'reserve' | 'maxWaitMs' | 'graceMs' | 'onRequest' | 'onWait'>;

/** How long to wait for the response to a write after Ctrl-C, in ms. */
const RESPONSE_GRACE_MS = 2_000;

/** Waits shorter than this show no countdown, in ms. */
const MIN_COUNTDOWN_MS = 1_000;

/** The account with which a command works: its settings, client, bucket, and index. Each is created on first use. */
export class Session {
  readonly clock: Clock = clockOfCommand();
  readonly version: string;
  /** The arguments after `esign`. */
  readonly words: readonly string[];
  readonly #flags: SessionFlags;
  readonly #invocation: Invocation;
  readonly #terminal: CommandTerminal;
  readonly #serviceClock = new ServiceClock(this.clock);
  #resolved: Promise<Settings> | undefined;
  #connected: Promise<Client> | undefined;
  #countsDown = false;
  #readsOnly = false;
  /** Shared by all clients, so that the emails of a command are counted together. */
  #gate: Promise<OpenGate> | undefined;

  constructor(
    flags: SessionFlags,
    { version, invocation, terminal }: { version: string; invocation: Invocation; terminal: CommandTerminal },
  ) {
    this.#flags = flags;
    this.#invocation = invocation;
    this.#terminal = terminal;
    this.version = version;
    this.words = invocation.words;
  }

  /** Makes every client of the service refuse requests other than GET from now on. The controls of a sandbox are not affected. */
  restrictToReads(): void {
    this.#readsOnly = true;
  }

  /** Returns the service's time (ms), or the local time before the first response. */
  now(): number {
    return this.#serviceClock.now();
  }

  /** Returns the settings of this run, from flags, environment, profile, and defaults, in this order of priority. */
  settings(options: { fallbackProfile?: string } = {}): Promise<Settings> {
    this.#resolved ??= this.#resolve(options.fallbackProfile);
    return this.#resolved;
  }

  /** Returns the base URL, which names the account in the records on this machine; empty without one. */
  async baseUrl(): Promise<string> {
    return (await this.settings()).baseUrl?.value ?? '';
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
    const { redactor, account } = this.#invocation;
    account.settings = settings;
    account.flags = accountFlags(settings, store.current, env);
    redactor.add(settings.apiKey?.kind === 'key' ? settings.apiKey.value : undefined);
    redactor.add(settings.storage.secretAccessKey);
    return settings;
  }

  /** Returns the client of the service. If a pacing is given, returns a separate client. */
  client(pacing?: RateSettings): Promise<Client> {
    if (pacing !== undefined) return this.#connect(pacing);
    this.#connected ??= this.#connect({});
    return this.#connected;
  }

  async #connect(pacing: RateSettings): Promise<Client> {
    const settings = await this.settings();
    const { baseUrl, apiKey } = requireConnection(settings);
    const { observations } = this.#invocation;
    const { recents } = observations;
    observations.scope = indexScopeOf(settings);
    const path = indexPathOf(settings);
    if (path !== undefined) observations.index ??= new IndexWriter(new FileStore(path));
    const { index } = observations;
    return this.#clientFor(baseUrl, apiKey, settings.timeoutMs.value, {
      ...pacing,
      isPaced: true,
      findSimilarIds: similarIdsFinder(observations),
      onEnvelope: (seen, source) => {
        // A search adds what it reads in lists. Others read lists again and again.
        if (source !== 'list') index?.envelope(seen, source === 'get');
        noteEnvelope(recents, seen);
      },
      onTemplate: (seen) => noteTemplate(recents, seen),
      gate: () => (this.#gate ??= this.openGate()),
    });
  }

  /**
   * Loads the guards and the log at the first write, because most commands only read. With the signal of a dry run, opens a gate that
   * only checks, and logs nothing.
   */
  async openGate(dryRun?: AbortSignal): Promise<OpenGate> {
    const { createGate } = await import('./command-gate.ts');
    const { confirm } = this.#flags;
    return createGate(await this.settings(), this, {
      terminal: this.#terminal,
      command: this.#invocation.command,
      confirm,
      isDryRun: dryRun !== undefined,
      signal: dryRun ?? this.#invocation.interrupt.signal,
    });
  }

  /** Returns the log of writes, to find earlier ones. */
  async memory(): Promise<WriteMemory> {
    const { LogFolder, logFolder } = await import('../../log/log-folder.ts');
    return new LogFolder(logFolder(stateDir()), this.clock);
  }

  /** Returns a client with the local index of its envelopes, or undefined if that is disabled. */
  async indexedAccount(own?: Client): Promise<IndexedAccount | undefined> {
    const client = own ?? (await this.client());
    const { index: writer } = this.#invocation.observations;
    return writer && { client, writer };
  }

  /** Returns a function that shows a request and its response, or undefined without --debug. */
  get trace(): ((entry: TracedRequest) => void) | undefined {
    if (!this.#flags.debug) return undefined;
    const { redactor } = this.#invocation;
    return (entry) => this.#terminal.err(traceText(entry, (text) => redactor.redact(text)));
  }

  /** Returns a client for another profile, such as one that isn't stored yet. */
  clientOf(profile: Profile): Promise<Client> {
    const settings = resolveSettings({
      flags: { timeout: this.#flags.timeout, profile: 'given' },
      env: { ESIGN_TIMEOUT: process.env.ESIGN_TIMEOUT },
      store: { current: undefined, profiles: { given: profile } },
    });
    const { baseUrl, apiKey } = requireConnection(settings);
    return this.#clientFor(baseUrl, apiKey, settings.timeoutMs.value);
  }

  /** Returns the controls of a running sandbox, by default the one of the profile `sandbox`. */
  async sandbox(): Promise<SandboxControl> {
    const settings = await this.settings({ fallbackProfile: 'sandbox' });
    const { baseUrl, apiKey } = requireConnection(settings);
    const { controlUrl, sandboxControl } = await import('../../api/sandbox-control.ts');
    const client = await this.#clientFor(controlUrl(baseUrl), apiKey, settings.timeoutMs.value, {
      gate: async () => (await import('./command-gate.ts')).sandboxGateOf(settings, this),
      readsOnly: false,
    });
    return sandboxControl(client.send, this.#invocation.interrupt.signal);
  }

  /** Returns the key, and shows if the command that prints it takes long. */
  async readKey({ kind, value }: NonNullable<Settings['apiKey']>): Promise<string> {
    if (kind === 'key') return value;
    const { readKeyFromCommand } = await import('../../settings/key-command.ts');
    const read = () => readKeyFromCommand(value, this.#invocation.interrupt.signal);
    return this.#terminal.waiting("Waiting for the API key from the profile's command", read, {
      still: true,
    });
  }

  async #clientFor(
    baseUrl: string,
    apiKey: NonNullable<Settings['apiKey']>,
    timeoutMs: number,
    options: RateSettings & Partial<Omit<ClientOptions, keyof RateSettings>> = {},
  ): Promise<Client> {
    const key = await this.readKey(apiKey);
    this.#invocation.redactor.add(key);
    const { createClient } = await import('../../api/client.ts');
    const { host } = new URL(baseUrl);
    return createClient({
      baseUrl,
      apiKey: key,
      timeoutMs,
      userAgent: userAgentOf(this.version),
      clock: this.clock,
      serviceClock: this.#serviceClock,
      graceMs: RESPONSE_GRACE_MS,
      readsOnly: this.#readsOnly,
      onRequest: (reads) => this.#terminal.showWaiting(waitingText(reads, host)),
      trace: this.trace,
      onWait: ({ ms, error }) => this.#showWait(ms, error),
      ...options,
      ...(this.#flags['no-wait'] ? { maxWaitMs: 0 } : {}),
    });
  }

  /** Shows a wait. Only one is shown at a time, because all requests of a run wait for the same window or service. */
  #showWait(ms: number, error: Error): void {
    const { redactor, interrupt } = this.#invocation;
    const pause = () => this.clock.sleep(ms, interrupt.signal);
    if (ms < MIN_COUNTDOWN_MS) {
      this.#terminal.waiting(`Retrying: ${sentenceOf(error)}`, pause).catch(() => undefined);
      return;
    }
    // With --json, stderr contains only the error.
    if (this.#terminal.json || this.#countsDown) return;
    this.#countsDown = true;
    const stop = startCountdown(redactor.redact(sentenceOf(error)), ms, this.#terminal);
    const done = () => {
      this.#countsDown = false;
      stop();
    };
    pause().then(done, done);
  }
}

function waitingText(reads: boolean, host: string): string {
  return reads ? `Waiting for ${host}` : `Sent; waiting for a response from ${host}`;
}
