import crypto from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import tty from 'node:tty';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { compileFunction } from 'node:vm';
import { IN_PROCESS_BUNDLE } from '../../scripts/in-process.js';
import { ownClock, TEST_CLOCK } from './own-clock.js';

/*
 * Runs the program as a function in the process of the tests: its modules run again for each command, with a separate
 * process object. This saves the start of Node, which is most of the time of a short command (docs/contributing/decisions/0013). Real
 * processes are used for everything else (signals, pipes, a terminal, concurrent runs).
 */

const ROOT = resolve(import.meta.dirname, '../..');
/** Where the built bundle would be: assets are found relative to it. */
const FILE = join(ROOT, 'dist/program/esign.cjs');
const PARAMETERS = ['exports', 'require', '__dirname', '__filename', '__url', 'process'];
const realRequire: (name: string) => unknown = createRequire(FILE);

export interface InProcessRun {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  input?: string | undefined;
  /** Gives the command its own clock, so that long waits take no time. */
  hasOwnClock?: boolean | undefined;
}

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface InProcessResult extends End {
  stdout: string;
  stderr: string;
}

interface Streams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
}

/** Leaves the command that called process.exit; nothing it does afterward has an effect. */
class Exited extends Error {}

let compiled: ReturnType<typeof compileFunction> | undefined;
/** Whether a command is starting or running to its end here, and the folder that is the working directory for how many. */
let running = false;
let held = { folder: '', by: 0, before: '' };

/** Whether a command can run in the folder now: one at a time, since it uses the worker's folder and process ID. */
export function isFree(folder: string): boolean {
  return !running && (held.by === 0 || held.folder === folder);
}

/** Runs one command line to its end. */
export async function runInProcess(run: InProcessRun): Promise<InProcessResult> {
  const stdin = Readable.from(run.input ? [Buffer.from(run.input)] : []);
  const [stdout, stderr] = [new Collected(), new Collected()];
  const leave = enter(run.cwd);
  running = true;
  const end = await new FakeProcess(run, { stdin, stdout, stderr }).run(run.argv);
  running = false;
  leave();
  return { ...end, stdout: stdout.text(), stderr: stderr.text() };
}

interface Ending {
  close: [code: number | null, signal: NodeJS.Signals | null];
  error: [Error];
}

/**
 * A command in this process that looks like a child process: it runs next to other commands until it ends by itself or receives a
 * signal.
 */
export class InProcessChild extends EventEmitter<Ending> {
  readonly pid = undefined;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly #process: FakeProcess;

  /** Starts the command. Unless it stays, its folder is the working directory only until it prints something. */
  constructor(run: InProcessRun, { stays }: { stays: boolean }) {
    super();
    this.#process = new FakeProcess(run, this);
    const leave = enter(run.cwd);
    running = true;
    const ended = this.#process.run(run.argv);
    void Promise.race([once(this.stdout, 'data'), ended]).then(() => {
      running = false;
      if (!stays) leave();
    });
    void ended.then((end) => {
      if (stays) leave();
      return this.#close(end);
    });
  }

  /** Only signals that a process can handle. */
  kill(signal: NodeJS.Signals | number = 'SIGTERM'): boolean {
    if (typeof signal === 'number' || signal === 'SIGKILL') throw new Error('start a process to kill it');
    this.#process.receive(signal);
    return true;
  }

  async #close({ code, signal }: End): Promise<void> {
    [this.exitCode, this.signalCode] = [code, signal];
    this.stdout.end();
    await finished(this.stderr.end(), { writable: false });
    this.emit('close', code, signal);
  }
}

/** Makes it the working directory; returns a function that undoes this when nothing else needs it. */
function enter(folder: string): () => void {
  if (held.by === 0) {
    held = { folder, by: 0, before: process.cwd() };
    process.chdir(folder);
  }
  held.by++;
  return () => {
    held.by--;
    if (held.by === 0) process.chdir(held.before);
  };
}

/** The process object that one command sees. */
class FakeProcess {
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #err: Writable;
  readonly #own: Map<string | symbol, unknown>;
  readonly #process: NodeJS.Process;
  #end: (code: number | null, signal?: NodeJS.Signals) => void = () => undefined;

  constructor({ argv, env, hasOwnClock }: InProcessRun, { stdin, stdout, stderr }: Streams) {
    this.#err = stderr;
    this.#own = new Map<string | symbol, unknown>([
      ['argv', [process.execPath, FILE, ...argv]],
      ['env', { ...env }],
      ['stdout', stdout],
      ['stderr', stderr],
      ['stdin', Object.assign(stdin, { fd: 0, unref: () => undefined })],
      ['exitCode', undefined],
      ['emitWarning', () => undefined],
      ['exit', (code?: number) => this.#exit(code)],
      ['kill', (pid: number, signal: NodeJS.Signals | 0 = 'SIGTERM') => this.#kill(pid, signal)],
      [TEST_CLOCK, hasOwnClock ? ownClock() : undefined],
    ]);
    this.#process = this.#proxied();
  }

  async run(argv: readonly string[]): Promise<End> {
    const ended = new Promise<End>((done) => {
      this.#end = (code, signal) => {
        this.#end = () => undefined;
        this.#events.emit('exit', code ?? 0);
        this.#events.removeAllListeners();
        done({ code, signal: signal ?? null });
      };
    });
    this.#main(argv).then(
      () => this.#end(Number(this.#process.exitCode ?? 0)),
      (error: unknown) => {
        if (error instanceof Exited) return;
        this.#err.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        this.#end(1);
      },
    );
    return ended;
  }

  receive(signal: NodeJS.Signals): void {
    if (!this.#events.emit(signal, signal)) this.#end(null, signal);
  }

  async #main(argv: readonly string[]): Promise<void> {
    compiled ??= compileFunction(readFileSync(IN_PROCESS_BUNDLE, 'utf8'), PARAMETERS, {
      filename: IN_PROCESS_BUNDLE,
    });
    const exports: Partial<Record<'main' | 'complete', (argv: readonly string[], root: string) => unknown>> =
      {};
    const own = this.#process;
    Reflect.apply(compiled, undefined, [
      exports,
      requireFor(own),
      join(FILE, '..'),
      FILE,
      pathToFileURL(FILE).href,
      own,
    ]);
    // As in bin/run.js.
    if (argv[0] === '__complete') await exports.complete?.(argv.slice(1), ROOT);
    else await exports.main?.(argv, ROOT);
    await new Promise(setImmediate);
    this.#events.emit('beforeExit', own.exitCode ?? 0);
  }

  #exit(code?: number): never {
    this.#end(Number(code ?? this.#process.exitCode ?? 0));
    throw new Exited();
  }

  #kill(pid: number, signal: NodeJS.Signals | 0): true {
    if (pid !== process.pid || signal === 0) return process.kill(pid, signal);
    this.receive(signal);
    return true;
  }

  /** The worker's process object with the parts of this run replaced. */
  #proxied(): NodeJS.Process {
    const own = this.#own;
    const events = this.#events;
    return new Proxy(process, {
      get(target, name, self) {
        if (own.has(name)) return own.get(name);
        const isEvents = name in events;
        const value: unknown = Reflect.get(isEvents ? events : target, name);
        if (typeof value !== 'function') return value;
        return (...words: unknown[]): unknown => {
          const result: unknown = Reflect.apply(value, isEvents ? events : target, words);
          return result === events ? self : result;
        };
      },
      set: (_target, name, value) => Boolean(own.set(name, value)),
    });
  }
}

/**
 * The modules that the program requires, with its own process object, its own home folder, no terminal, and no flags of V8,
 * which would be those of the tests, too.
 */
function requireFor(own: NodeJS.Process): (name: string) => unknown {
  const replaced: Record<string, unknown> = {
    process: own,
    crypto: Object.create(crypto, { pbkdf2Sync: { value: rememberedKey } }),
    v8: { ...v8, setFlagsFromString: () => undefined },
    os: { ...os, homedir: () => own.env.HOME ?? os.homedir() },
    tty: { ...tty, isatty: () => false },
  };
  return (name): unknown => replaced[name.replace(/^node:/, '')] ?? realRequire(name);
}

const keys = new Map<string, Buffer>();

/** The slow fingerprints of secrets: tests use the same few in many commands. */
function rememberedKey(...args: Parameters<typeof crypto.pbkdf2Sync>): Buffer {
  const name = JSON.stringify(args);
  const key = keys.get(name) ?? crypto.pbkdf2Sync(...args);
  keys.set(name, key);
  return key;
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
