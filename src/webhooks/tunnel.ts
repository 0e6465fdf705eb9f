import { type ChildProcess, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { type Clock, waitAtMost } from '../kernel/clock.ts';
import { NetworkError } from '../kernel/errors.ts';
import { childEnvironment } from '../kernel/process/child-environment.ts';
import { endTree } from '../kernel/process/process-tree.ts';

export interface Tunnel {
  /** The public URL at which webhooks are received. */
  url: string;
  /** Rejects when the command exits by itself. */
  ended: Promise<never>;
  close(): Promise<void>;
}

/** The time limit for the command to print its address. */
const START_TIMEOUT_MS = 30_000;
/** The time limit for the command to exit before it is killed. */
const GRACE_MS = 3_000;
const OUTPUT_GRACE_MS = 500;
const MAX_OUTPUT_CHARACTERS = 8_192;
const MAX_OUTPUT_LINES = 5;
/** Dashboards whose addresses tunnel programs print. Other pages have a path. */
const DASHBOARDS = ['dash.cloudflare.com', 'dashboard.ngrok.com', 'admin.localhost.run'];
const HINT =
  'To test the command, run it yourself. Or run `esign listen`, and start the tunnel in another terminal.';

/**
 * Starts the user's tunnel command and waits for an address in its output.
 * `{port}` and `{url}` in the line are replaced with the local port and URL.
 * @throws NetworkError, with the output, if the command ends or prints no address.
 */
export async function openTunnel(
  line: string,
  { listensAt, clock, signal }: { listensAt: string; clock: Clock; signal: AbortSignal },
): Promise<Tunnel> {
  const here = new URL(listensAt);
  if (/^(?:0\.0\.0\.0|\[::\])$/.test(here.hostname)) here.hostname = '127.0.0.1';
  const child = start(line.replaceAll('{port}', here.port).replaceAll('{url}', here.origin));
  const output = new Output(child, here.pathname);
  const exited = exitOf(child);
  const ended = exited.then((exit): never => {
    throw endedError(exit, output);
  });
  ended.catch(() => undefined);
  const found = new AbortController();
  try {
    const limit = clock.sleep(START_TIMEOUT_MS, AbortSignal.any([signal, found.signal]));
    limit.catch(() => undefined);
    const address = await Promise.race([output.address, limit, ended]);
    if (address === undefined)
      throw tunnelError('The tunnel printed no https address within 30 seconds.', output);
    return { url: new URL(here.pathname, address).href, ended, close: () => close(child, exited, clock) };
  } catch (error) {
    await close(child, exited, clock);
    throw error;
  } finally {
    found.abort();
  }
}

/** The output of the command: its address and its last lines. */
class Output {
  readonly address: Promise<string>;
  #raw = '';

  constructor(child: ChildProcess, path: string) {
    this.address = new Promise((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          this.#raw = (this.#raw + text).slice(-MAX_OUTPUT_CHARACTERS);
          const address = findAddress(stripVTControlCharacters(this.#raw), path);
          if (address !== undefined) resolve(address);
        });
    });
  }

  /** Returns the last lines of the output, for an error. */
  lastLines(): string[] {
    const lines = stripVTControlCharacters(this.#raw)
      .split(/[\r\n]+/)
      .filter((one) => one.trim() !== '');
    return lines.slice(-MAX_OUTPUT_LINES);
  }
}

/** Returns the first https address that can belong to a tunnel: without a path, or with the webhook path. */
export function findAddress(text: string, path: string): string | undefined {
  for (const [found] of text.matchAll(/https:\/\/[^\s"'<>|,;)\]}]+(?=[\s"'<>|,;)\]}])/g)) {
    const url = URL.canParse(found) ? new URL(found) : undefined;
    if (url === undefined || url.search !== '' || DASHBOARDS.includes(url.hostname)) continue;
    if (url.pathname === '/' || url.pathname === path) return url.origin;
  }
  return undefined;
}

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  failure?: Error;
}

/** Starts the command in its own process group, so that it can be stopped with all its children. */
function start(line: string): ChildProcess {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const detached = process.platform !== 'win32';
  return spawn(line, { shell: true, stdio: [...stdio], detached, env: childEnvironment() });
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.on('error', (failure) => resolve({ code: null, signal: null, failure }));
    // More output may still arrive. Don't wait for its end, because a process that the command left running may keep it open.
    child.on('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), OUTPUT_GRACE_MS));
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

function endedError({ code, signal, failure }: Exit, output: Output): NetworkError {
  const how = failure?.message ?? `it exited with ${signal ?? code ?? 'an error'}`;
  return tunnelError(`The tunnel stopped: ${how}.`, output);
}

function tunnelError(message: string, output: Output): NetworkError {
  const details = { output: output.lastLines() };
  return new NetworkError('NETWORK', message, { maybeReceived: false, hint: HINT, details });
}

/** Asks the command to exit, waits for it, and ends what is left of its process group. */
async function close(child: ChildProcess, exited: Promise<Exit>, clock: Clock): Promise<void> {
  const { pid } = child;
  if (pid !== undefined) {
    // Windows can't ask a program to exit.
    if (process.platform !== 'win32') terminate(-pid);
    await waitAtMost(process.platform === 'win32' ? 0 : GRACE_MS, exited, clock);
    endTree(pid);
  }
  await exited;
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function terminate(group: number): void {
  try {
    process.kill(group, 'SIGTERM');
  } catch {
    // The group has already ended.
  }
}
