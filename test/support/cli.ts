import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isRecord, parseJson } from '../../src/kernel/json.ts';

/** The binary under test: the built one, or any other that ESIGN_BIN names. */
export const BIN = process.env.ESIGN_BIN ?? join(import.meta.dirname, '../../bin/run.js');

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
}

/** A home of its own for a test file: settings, state and files in one folder that goes away. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), 'esign-e2e-'));
  readonly env: Record<string, string>;
  private readonly started: LongRunning[] = [];

  constructor(env: Record<string, string> = {}) {
    this.env = {
      ESIGN_CONFIG_DIR: join(this.folder, 'config'),
      ESIGN_STATE_DIR: join(this.folder, 'state'),
      ...env,
    };
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const child = this.spawn(args, options);
    child.stdin?.end(options.input ?? '');
    const [stdout, stderr, end] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      endOf(child),
    ]);
    return { ...end, stdout, stderr };
  }

  /** Runs a command that must succeed; its JSON. */
  async json(args: readonly string[], options: RunOptions = {}): Promise<unknown> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], options);
    if (code !== 0) throw new Error(`esign ${args.join(' ')} ended with ${code}: ${stderr}`);
    return parseJson(stdout);
  }

  /** The same, for one object. */
  async object(args: readonly string[], options: RunOptions = {}): Promise<Record<string, unknown>> {
    const value = await this.json(args, options);
    if (!isRecord(value)) throw new Error(`esign ${args.join(' ')} printed no object`);
    return value;
  }

  /** Starts a command that goes on; it is stopped with the home at the latest. */
  start(args: readonly string[], options: RunOptions = {}): LongRunning {
    const running = new LongRunning(this.spawn(args, options));
    this.started.push(running);
    return running;
  }

  /** A sandbox whose connection settings the home's later commands use. */
  async sandbox(args: readonly string[] = []): Promise<Sandbox> {
    const process = this.start(['sandbox', 'start', '--ephemeral', '--port', '0', '--json', ...args]);
    const ready = await process.object();
    return { process, baseUrl: String(ready.baseUrl), apiKey: String(ready.apiKey), ready };
  }

  async close(): Promise<void> {
    await Promise.all(this.started.map((one) => one.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private spawn(args: readonly string[], options: RunOptions): ChildProcess {
    const clean = Object.entries(process.env).filter(
      ([name]) => !/^(ESIGN_|AWS_|NO_COLOR|FORCE_COLOR|CI$|VITEST|NODE_)/.test(name),
    );
    const env = { ...Object.fromEntries(clean), ...this.env, ...options.env };
    return spawn(process.execPath, [BIN, ...args], { env, cwd: options.cwd ?? this.folder, stdio: 'pipe' });
  }
}

export interface Sandbox {
  process: LongRunning;
  baseUrl: string;
  apiKey: string;
  ready: Record<string, unknown>;
}

/** A command that goes on until it is stopped. */
export class LongRunning {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly stderr: Promise<string>;
  private readonly lines: AsyncIterator<string>;

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = endOf(child);
    this.stderr = textOf(child.stderr);
    if (!child.stdout) throw new Error('no stdout');
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** Its next line of stdout. */
  async line(): Promise<string> {
    const next = await this.lines.next();
    if (next.done) throw new Error(`it ended: ${await this.stderr}`);
    return next.value;
  }

  /** Its next line, as a JSON object. */
  async object(): Promise<Record<string, unknown>> {
    const value = parseJson(await this.line());
    if (!isRecord(value)) throw new Error('the line is no JSON object');
    return value;
  }

  /** Sends the signal and waits for the end. */
  async stop(
    signal: NodeJS.Signals = 'SIGTERM',
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.ended;
  }
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  const chunks: Buffer[] = [];
  if (stream) for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** The error a command reported with --json: one line on stderr, nothing on stdout. */
export function reportedError(finished: Finished): Record<string, unknown> {
  const lines = finished.stderr.trim().split('\n');
  const value = parseJson(lines.at(-1) ?? '');
  if (finished.stdout !== '' || !isRecord(value) || !isRecord(value.error)) {
    throw new Error(`not one JSON error: ${JSON.stringify(finished)}`);
  }
  return value.error;
}
