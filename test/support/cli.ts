import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv, isWordValue, type WordValue } from './argv.ts';
import { InProcessChild, isFree, runInProcess } from './in-process.ts';
import { closeAtEnd } from './opened.ts';

const BIN = resolve(process.env.ESIGN_BIN || join(import.meta.dirname, '../../bin/run.js'));

/** The command for the binary under test: the built one, or any other in ESIGN_BIN. */
export const COMMAND: readonly [string, ...string[]] = /\.[cm]?js$/.test(BIN)
  ? [process.execPath, BIN]
  : [BIN];

const PRELOAD = `--import=${resolve(import.meta.dirname, 'own-clock-preload.js')}`;

/** The same with its own clock, on which long waits take no time. An executable has the real one. */
const COMMAND_WITH_OWN_CLOCK: readonly [string, ...string[]] =
  COMMAND.length > 1 ? [process.execPath, PRELOAD, BIN] : COMMAND;

/** The environment that gives a command in `home.shell` its own clock. */
export const OWN_CLOCK = { NODE_OPTIONS: PRELOAD };

/** The folder of the package under test; a standalone executable has none. */
export const PACKAGE = COMMAND.length > 1 ? resolve(BIN, '../..') : undefined;

/** Only these variables of the caller's environment reach a command: no key, profile, proxy, or color. */
const INHERITED = ['PATH', 'TMPDIR', 'LANG', 'SystemRoot', 'TEMP'];
/** Shared by all homes: it only makes commands start faster. */
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/tests');
/** A process that ignores its signal for this long is killed: longer than the program itself waits (src/cli/interrupt.ts). */
const PATIENCE_MS = 60_000;

/** One switch for all of them; a binary given by name is a process, too. */
const ALWAYS_REAL = Boolean(process.env.ESIGN_BIN);
/** How many commands a test runs at the same time: one in its own process, or several real ones. */
export const AT_A_TIME = ALWAYS_REAL ? 10 : 1;
/** Variables that Node or a native module reads when the process starts. */
const FOR_NODE = /^(NODE_|OPENSSL_|DBUS_|TZ$|LANG$|LC_|PATH$|TMPDIR$)/;
/** Commands that start others with their own output, and those that bin/run.js handles. */
const NEEDS_PROCESS = /^(demo|help|version|sandbox exec)\b/;
/** Commands that wait before they send, which takes no time in tests. */
const WAITING = /^(bulk (create|resume)|envelopes (create|replace)|mcp)\b/;
/** Handled by bin/run.js before it loads the program; help as JSON is not. */
const VERSION_FLAGS = new Set(['--version', '-V', '-v']);
const ANSWERED_FIRST = new Set([...VERSION_FLAGS, '--help', '-h']);

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  /** The command line of a program that runs the command, such as strace. */
  under?: readonly string[];
  /** Waits really, also where long waits take no time otherwise. */
  isRealTime?: boolean;
}

/** A separate home for a test file: settings, state, and files in one folder that is deleted at the end. */
export class Home {
  readonly #folder = join(tmpdir(), `esign-tests-${randomUUID().slice(0, 13)}`);
  readonly #env: Record<string, string>;
  readonly #started: LongRunning[] = [];
  /** Where the latest sandbox is controlled. */
  #controls: { url: URL; apiKey: string } | undefined;
  /** The environment of a new home's commands; the others were set by the test. */
  readonly #usual = inherited();
  readonly #inProcess: boolean;

  constructor(env: Record<string, string> = {}, { inProcess = !ALWAYS_REAL }: { inProcess?: boolean } = {}) {
    this.#inProcess = inProcess;
    this.#env = {
      ...inherited(),
      HOME: this.#folder,
      XDG_CACHE_HOME: CACHE,
      ESIGN_CONFIG_DIR: join(this.#folder, 'config'),
      ESIGN_STATE_DIR: join(this.#folder, 'state'),
      ...env,
    };
    closeAtEnd(this);
  }

  get folder(): string {
    this.#create();
    return this.#folder;
  }

  get env(): Record<string, string> {
    this.#create();
    return this.#env;
  }

  /** Creates the folder when it is first used. If every test of a file is skipped, nothing would delete it. */
  #create(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** Like `path`, but doesn't create the home: for code outside tests, which also runs when all tests of the file are skipped. */
  pathLater(...parts: string[]): string {
    return join(this.#folder, ...parts);
  }

  /** Runs a command to its end: home.run`envelopes get ${id} --json`, or arguments and options. */
  run(line: TemplateStringsArray, ...values: WordValue[]): Promise<Finished>;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  run(args: readonly string[], ...rest: (RunOptions | WordValue | undefined)[]): Promise<Finished> {
    const { words, options } = readCall(args, rest);
    if (this.#needsProcess(words, options)) return finish(this.#spawn(words, options), options.input);
    const env = { ...this.env, ...options.env };
    const cwd = options.cwd ?? this.folder;
    return runInProcess({
      argv: words,
      env,
      cwd,
      input: options.input,
      hasOwnClock: hasOwnClock(words, options),
    });
  }

  /** Runs a line of bash in which `esign` is the binary under test, as a script would. */
  shell(script: string, env: Record<string, string> = {}): Promise<Finished> {
    const command = COMMAND.map((word) => `'${word}'`).join(' ');
    const line = `set -o pipefail; esign() { ${command} "$@"; }; ${script}`;
    const options = { env: { ...this.env, ...env }, cwd: this.folder };
    return finish(spawn('bash', ['--norc', '-c', line], options));
  }

  /** Runs a command that must succeed; returns its JSON. */
  async json(line: TemplateStringsArray, ...values: WordValue[]): Promise<unknown>;
  async json(args: readonly string[], options?: RunOptions): Promise<unknown>;
  async json(args: readonly string[], ...rest: (RunOptions | WordValue | undefined)[]): Promise<unknown> {
    const { words, options } = readCall(args, rest);
    const { code, stdout, stderr } = await this.run([...words, '--json'], options);
    if (code !== 0) throw new Error(`esign ${words.join(' ')} ended with ${code}: ${stderr}`);
    return parseJson(stdout);
  }

  /** Like `json`, for a single object. */
  async object(line: TemplateStringsArray, ...values: WordValue[]): Promise<Record<string, unknown>>;
  async object(args: readonly string[], options?: RunOptions): Promise<Record<string, unknown>>;
  async object(args: readonly string[], ...rest: (RunOptions | WordValue | undefined)[]) {
    const { words, options } = readCall(args, rest);
    const value = await this.json(words, options);
    if (!isRecord(value)) throw new Error(`esign ${words.join(' ')} printed no object`);
    return value;
  }

  /** Starts a long-running command; it is stopped with the home at the latest. */
  start(line: TemplateStringsArray, ...values: WordValue[]): LongRunning;
  start(args: readonly string[], options?: RunOptions): LongRunning;
  start(args: readonly string[], ...rest: (RunOptions | WordValue | undefined)[]): LongRunning {
    const { words, options } = readCall(args, rest);
    return this.#keep(this.#spawn(words, options));
  }

  /**
   * Starts a command that runs next to others until it ends or is stopped, in this process where commands run here, too. It can't
   * be killed.
   */
  background(line: TemplateStringsArray, ...values: WordValue[]): LongRunning;
  background(args: readonly string[], options?: RunOptions): LongRunning;
  background(args: readonly string[], ...rest: (RunOptions | WordValue | undefined)[]): LongRunning {
    const { words, options } = readCall(args, rest);
    return this.#next(words, options, true);
  }

  /**
   * Starts a sandbox whose connection settings the home's later commands use, unless it has no profile: in this process where commands
   * run here, too.
   */
  async sandbox(args: readonly string[] = [], { hasProfile = true } = {}): Promise<Sandbox> {
    const words = ['sandbox', 'start', '--ephemeral', '--port', '0', '--json', ...args];
    const env: Record<string, string> = hasProfile ? {} : { ESIGN_CONFIG_DIR: this.path('other-config') };
    const running = this.#next(words, { env }, false);
    const ready = await running.object();
    this.#controls = { url: new URL('/__sandbox', String(ready.baseUrl)), apiKey: String(ready.apiKey) };
    const baseUrl = await this.#relayed(String(ready.baseUrl), hasProfile);
    return { baseUrl, apiKey: String(ready.apiKey), ready, stop: () => running.stop() };
  }

  /** Replaces the faults of the latest sandbox; `{}` removes them. */
  faults(settings: unknown): Promise<unknown> {
    return this.control('/faults', settings);
  }

  /** Requests a path below `/__sandbox` of the latest sandbox: GET, or POST with a body. Returns `data` of the reply. */
  async control(path: string, body?: unknown): Promise<unknown> {
    if (this.#controls === undefined) throw new Error('the home has no sandbox');
    const { url, apiKey } = this.#controls;
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const reply = await fetch(`${url.href}${path}`, { headers, ...post });
    const text = await reply.text();
    const value = parseJson(text);
    if (!reply.ok || !isRecord(value)) throw new Error(`${path}: ${reply.status} ${text}`);
    return value.data;
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map((one) => one.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The base URL for the commands: during the contract check, that of a recording relay. */
  async #relayed(baseUrl: string, inProfile: boolean): Promise<string> {
    const proxy = process.env.ESIGN_RELAY;
    if (!proxy) return baseUrl;
    const { origin, pathname } = new URL(baseUrl);
    const relay = await (await fetch(proxy, { method: 'POST', body: origin })).text();
    const seen = `${relay}${pathname}`;
    if (inProfile) await this.json(['profiles', 'edit', 'sandbox', '--base-url', seen, '--no-verify']);
    return seen;
  }

  /** Returns true if these arguments need a real process. */
  #needsProcess(words: readonly string[], options: RunOptions): boolean {
    if (words.length === 0 || !this.#mayRunHere(options)) return true;
    const answeredFirst = words.includes('--json') ? VERSION_FLAGS : ANSWERED_FIRST;
    return NEEDS_PROCESS.test(words.join(' ')) || words.some((word) => answeredFirst.has(word));
  }

  #mayRunHere({ env, cwd, under }: RunOptions): boolean {
    if ((under ?? []).length > 0 || !isFree(cwd ?? this.folder)) return false;
    const set = Object.entries({ ...this.env, ...env });
    const isForNode = set.some(([name, value]) => FOR_NODE.test(name) && this.#usual[name] !== value);
    return this.#inProcess && !isForNode;
  }

  /** Starts a command next to others; `stays` if its folder has to be the working directory to its end. */
  #next(argv: readonly string[], options: RunOptions, stays: boolean): LongRunning {
    if (!this.#mayRunHere(options)) return this.start(argv, options);
    const env = { ...this.env, ...options.env };
    const run = { argv, env, cwd: options.cwd ?? this.folder, hasOwnClock: hasOwnClock(argv, options) };
    return this.#keep(new InProcessChild(run, { stays }));
  }

  #keep(child: Child): LongRunning {
    const running = new LongRunning(child);
    this.#started.push(running);
    return running;
  }

  #spawn(args: readonly string[], options: RunOptions): ChildProcess {
    const program = hasOwnClock(args, options) ? COMMAND_WITH_OWN_CLOCK : COMMAND;
    const [file = '', ...before] = [...(options.under ?? []), ...program];
    const env = { ...this.env, ...options.env };
    return spawn(file, [...before, ...args], { env, cwd: options.cwd ?? this.folder, stdio: 'pipe' });
  }
}

export interface Sandbox {
  baseUrl: string;
  apiKey: string;
  ready: Record<string, unknown>;
  stop: () => Promise<unknown>;
}

function objectIn(line: string): Record<string, unknown> {
  const value = parseJson(line);
  if (!isRecord(value)) throw new Error('the line is not a JSON object');
  return value;
}

/** A real process, or what looks like one. */
type Child = ChildProcess | InProcessChild;

/** A command that runs until it is stopped. */
export class LongRunning {
  readonly child: Child;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly stderr: Promise<string>;
  readonly #lines: AsyncIterator<string>;
  #said = '';

  constructor(child: Child) {
    this.child = child;
    this.ended = endOf(child);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
    this.stderr = this.ended.then(() => this.#said);
    if (!child.stdout) throw new Error('no stdout');
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Returns its next line of stdout. */
  async line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error(`it ended: ${await this.stderr}`);
    return next.value;
  }

  /** Returns its next line, as a JSON object. */
  async object(): Promise<Record<string, unknown>> {
    return objectIn(await this.line());
  }

  /** Returns the match of the pattern in its stderr, from its start, as soon as there is one. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#said);
      if (found) return found;
      const more = this.child.stderr ? once(this.child.stderr, 'data') : Promise.resolve();
      const ended = await Promise.race([more.then(() => false), this.ended.then(() => true)]);
      if (ended && !pattern.test(this.#said))
        throw new Error(`it never said ${String(pattern)}: ${this.#said}`);
    }
  }

  /**
   * Sends the signal until it ends, like somebody who keeps pressing Ctrl-C. Signals within half a second of the first count as the
   * same press, so two signals at a fixed distance could count as one on a slow machine.
   */
  async insist(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const timer = setInterval(() => this.child.kill(signal), 100);
    this.child.kill(signal);
    await this.ended.finally(() => clearInterval(timer));
  }

  /** Sends the signal and waits for the end. */
  async stop(
    signal: NodeJS.Signals = 'SIGTERM',
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    const last = setTimeout(() => this.child.kill('SIGKILL'), PATIENCE_MS);
    try {
      return await this.ended;
    } finally {
      clearTimeout(last);
    }
  }
}

/** The two ways to run a command: a command line as a template, or arguments and options. */
function readCall(
  args: readonly string[] | TemplateStringsArray,
  rest: readonly (RunOptions | WordValue | undefined)[],
): { words: readonly string[]; options: RunOptions } {
  if ('raw' in args) return { words: argv(args, ...rest.filter(isWordValue)), options: {} };
  const [options] = rest;
  return { words: args, options: options === undefined || isWordValue(options) ? {} : options };
}

function hasOwnClock(words: readonly string[], { isRealTime = false }: RunOptions): boolean {
  return !isRealTime && WAITING.test(words.join(' '));
}

function inherited(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function finish(child: ChildProcess, input = ''): Promise<Finished> {
  // A command that reads no stdin may exit before its input is written.
  child.stdin?.on('error', () => undefined).end(input);
  const [stdout, stderr, end] = await Promise.all([textOf(child.stdout), textOf(child.stderr), endOf(child)]);
  return { ...end, stdout, stderr };
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  const chunks: Buffer[] = [];
  if (stream) for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function endOf(child: Child): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal }));
  });
}

/** Returns the error of a command with --json: one line on stderr, nothing on stdout. */
export function reportedError(finished: Finished): Record<string, unknown> {
  const lines = finished.stderr.trim().split('\n');
  const value = parseJson(lines.at(-1) ?? '');
  if (finished.stdout !== '' || !isRecord(value) || !isRecord(value.error)) {
    throw new Error(`not one JSON error: ${JSON.stringify(finished)}`);
  }
  return value.error;
}

/** Returns the lines of a text, without the line break at its end. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Parses the JSON Lines of a text. */
export function jsonLines(text: string): unknown[] {
  return linesOf(text).map(parseJson);
}
