import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import tty from 'node:tty';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { compileFunction } from 'node:vm';
import { IN_PROCESS_BUNDLE } from '../../scripts/in-process.js';

/*
 * Runs the program as a function in the process of the tests: its modules run again for each command, with a separate
 * process object. This saves the start of Node, which is most of the time of a short command (docs/decisions/0013). Real
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
}

export interface InProcessResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Leaves the command that called process.exit; nothing it does afterward has an effect. */
class Exited extends Error {}

let compiled: ReturnType<typeof compileFunction> | undefined;
let running = false;
/** It is an ES module, which the bundle can't require. */
const shaping = import('harfbuzzjs');

/** Whether a command can run here now: one at a time, since it uses the worker's folder and process ID. */
export function isFree(): boolean {
  return !running;
}

/** Runs one command line to its end. */
export function runInProcess(run: InProcessRun): Promise<InProcessResult> {
  return inFolder(run.cwd, () => new FakeProcess(run).run(run.argv));
}

/** A command that runs until it receives a signal. */
export interface Staying {
  /** The first line of its stdout. */
  firstLine: string;
  stop: () => Promise<InProcessResult>;
}

/** Starts a command line that prints a line when it is ready and then runs next to other commands. */
export function startInProcess(run: InProcessRun): Promise<Staying> {
  return inFolder(run.cwd, async () => {
    const fake = new FakeProcess(run);
    const ended = fake.run(run.argv);
    const ready = await Promise.race([fake.firstLine(), ended]);
    if (typeof ready !== 'string') throw new Error(`it ended: ${ready.stderr}`);
    const stop = () => {
      fake.receive('SIGTERM');
      return ended;
    };
    return { firstLine: ready, stop };
  });
}

async function inFolder<T>(folder: string, task: () => Promise<T>): Promise<T> {
  const before = process.cwd();
  running = true;
  process.chdir(folder);
  try {
    return await task();
  } finally {
    process.chdir(before);
    running = false;
  }
}

/** The process object that one command sees, and what it wrote. */
class FakeProcess {
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #out = new Collected();
  readonly #err = new Collected();
  readonly #own: Map<string | symbol, unknown>;
  readonly #process: NodeJS.Process;
  #end: (code: number | null, signal?: NodeJS.Signals) => void = () => undefined;

  constructor({ argv, env, input }: InProcessRun) {
    this.#own = new Map<string | symbol, unknown>([
      ['argv', [process.execPath, FILE, ...argv]],
      ['env', { ...env }],
      ['stdout', this.#out],
      ['stderr', this.#err],
      [
        'stdin',
        Object.assign(Readable.from(input ? [Buffer.from(input)] : []), { fd: 0, unref: () => undefined }),
      ],
      ['exitCode', undefined],
      ['emitWarning', () => undefined],
      ['exit', (code?: number) => this.#exit(code)],
      ['kill', (pid: number, signal: NodeJS.Signals | 0 = 'SIGTERM') => this.#kill(pid, signal)],
    ]);
    this.#process = this.#proxied();
  }

  async run(argv: readonly string[]): Promise<InProcessResult> {
    const ended = new Promise<InProcessResult>((done) => {
      this.#end = (code, signal) => {
        this.#end = () => undefined;
        this.#events.emit('exit', code ?? 0);
        this.#events.removeAllListeners();
        done({ code, signal: signal ?? null, stdout: this.#out.text(), stderr: this.#err.text() });
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

  firstLine(): Promise<string> {
    return this.#out.firstLine();
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
      requireFor(own, await shaping),
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
function requireFor(own: NodeJS.Process, harfbuzzjs: unknown): (name: string) => unknown {
  const replaced: Record<string, unknown> = {
    harfbuzzjs,
    process: own,
    v8: { ...v8, setFlagsFromString: () => undefined },
    os: { ...os, homedir: () => own.env.HOME ?? os.homedir() },
    tty: { ...tty, isatty: () => false },
  };
  return (name): unknown => replaced[name.replace(/^node:/, '')] ?? realRequire(name);
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.emit('written');
    done();
  }

  async firstLine(): Promise<string> {
    while (!this.text().includes('\n')) await once(this, 'written');
    return this.text().slice(0, this.text().indexOf('\n'));
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
