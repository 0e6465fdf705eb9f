import { type ChildProcess, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { type BackOff, backOff } from '../kernel/back-off.ts';
import { aborted, abortReason, type Clock, waitAtMost } from '../kernel/clock.ts';
import { NetworkError, sentenceOf, UsageError } from '../kernel/errors.ts';
import { childEnvironment } from '../kernel/process/child-environment.ts';
import { endTree } from '../kernel/process/process-tree.ts';
import { wordList } from '../kernel/text/word-list.ts';

export interface Tunnel {
  /** The public URL at which webhooks are received. */
  url: string;
  /** Aborted with an error if the command exits by itself. */
  broken: AbortSignal;
  close(): Promise<void>;
}

/** The time limit for the command to print its address. */
const START_TIMEOUT_MS = 30_000;
/** The time limit for the command to exit before it is killed. */
const GRACE_MS = 3_000;
const OUTPUT_GRACE_MS = 500;
const MAX_OUTPUT_CHARACTERS = 8_192;
const MAX_OUTPUT_LINES = 5;
/** Sites of other pages whose addresses tunnel programs print: terms, manuals, dashboards. */
const ABOUT_PAGES: ReadonlySet<string> = new Set(
  wordList(`cloudflare.com www.cloudflare.com developers.cloudflare.com dash.cloudflare.com ngrok.com
    dashboard.ngrok.com localhost.run admin.localhost.run x.com twitter.com github.com`),
);

/**
 * Runs the command in its own process group. When stdin ends, ends the group with SIGTERM and, 3 seconds later, SIGKILL, even if the
 * command has ended by then: its children may ignore SIGTERM. This way, nothing keeps running even if this process is killed.
 */
const GUARD = `trap : TERM
exec 3<&0
( eval "$1" ) </dev/null 3<&- &
tunnel=$!
( trap "" TERM; cat <&3; kill -s TERM 0; sleep 3; kill -s KILL 0 ) >/dev/null 2>&1 &
exec 3<&-
wait "$tunnel"
code=$?
while kill -0 "$tunnel" 2>/dev/null; do wait "$tunnel"; code=$?; done
exit "$code"`;

/**
 * Starts the user's tunnel command and waits for an address in its output.
 * `{port}` and `{url}` in the line are replaced with the local port and URL.
 * @throws UsageError or NetworkError, with the output, if the command ends or prints no address.
 */
export async function openTunnel(
  line: string,
  options: { listensAt: string; clock: Clock; signal: AbortSignal },
): Promise<Tunnel> {
  const { listensAt, clock, signal } = options;
  const here = new URL(listensAt);
  if (/^(?:0\.0\.0\.0|\[::\])$/.test(here.hostname)) here.hostname = '127.0.0.1';
  const child = start(line.replaceAll('{port}', here.port).replaceAll('{url}', here.origin));
  const output = new Output(child, here.pathname);
  const ended = endOf(child);
  const broken = new AbortController();
  void ended.then((end) => broken.abort(endedError(end, output)));
  const timedOut = new AbortController();
  try {
    const deadline = clock.sleep(START_TIMEOUT_MS, AbortSignal.any([signal, broken.signal, timedOut.signal]));
    const found = (await Promise.race([output.address, deadline])) ?? output.unfinished();
    if (found === undefined)
      throw new NetworkError(
        'NETWORK',
        `The tunnel printed no https address within 30 seconds.${output.lastLines()}`,
        {
          maybeReceived: false,
          hint: HINT,
        },
      );
    return {
      url: new URL(here.pathname, found).href,
      broken: broken.signal,
      close: () => close(child, ended, clock),
    };
  } catch (error) {
    await close(child, ended, clock);
    throw error;
  } finally {
    timedOut.abort();
  }
}

const HINT =
  'To test the command, run it yourself. Or run `esign listen`, and start the tunnel in another terminal.';

/** The output of the command: its address and its last lines. */
class Output {
  readonly address: Promise<string>;
  readonly #path: string;
  #raw = '';

  constructor(child: ChildProcess, path: string) {
    this.#path = path;
    this.address = new Promise((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          this.#raw = (this.#raw + text).slice(-MAX_OUTPUT_CHARACTERS);
          const address = findAddress(this.#text, path);
          if (address !== undefined) resolve(address);
        });
    });
  }

  get #text(): string {
    return stripVTControlCharacters(this.#raw);
  }

  /** Returns the address at the very end of the output, which may be incomplete. */
  unfinished(): string | undefined {
    return findAddress(`${this.#text} `, this.#path);
  }

  /** Returns the last lines of the output, for a message. */
  lastLines(): string {
    const lines = this.#text.split(/[\r\n]+/).filter((one) => one.trim() !== '');
    return lines.length === 0
      ? ' It printed nothing.'
      : ` Its output:\n${lines.slice(-MAX_OUTPUT_LINES).join('\n')}`;
  }
}

/** Returns the first https address that can belong to a tunnel: without a path, or with the webhook path. */
export function findAddress(text: string, path: string): string | undefined {
  for (const [found] of text.matchAll(/https:\/\/[^\s"'<>|,;)\]}]+(?=[\s"'<>|,;)\]}])/g)) {
    const url = URL.canParse(found) ? new URL(found) : undefined;
    if (url === undefined || url.search !== '' || ABOUT_PAGES.has(url.hostname)) continue;
    if (url.pathname === '/' || url.pathname === path) return url.origin;
  }
  return undefined;
}

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  failure?: Error;
}

function start(line: string): ChildProcess {
  const env = childEnvironment();
  if (process.platform === 'win32') return spawn(line, { shell: true, stdio: 'pipe', env });
  return spawn('/bin/sh', ['-c', GUARD, 'sh', line], { stdio: 'pipe', detached: true, env });
}

function endOf(child: ChildProcess): Promise<End> {
  child.stdin?.on('error', () => undefined);
  return new Promise((resolve) => {
    child.on('error', (failure) => resolve({ code: null, signal: null, failure }));
    // More output may still arrive. Don't wait for its end, because a process that the command left running may keep it open.
    child.on('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), OUTPUT_GRACE_MS));
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

function endedError({ code, signal, failure }: End, output: Output): Error {
  const how = failure?.message ?? `it exited with ${signal ?? code ?? 'an error'}`;
  const message = `The tunnel stopped: ${how}.${output.lastLines()}`;
  if (failure !== undefined || code === 126 || code === 127) return new UsageError(message, { hint: HINT });
  return new NetworkError('NETWORK', message, { maybeReceived: false, hint: HINT });
}

async function close(child: ChildProcess, ended: Promise<End>, clock: Clock): Promise<void> {
  child.stdin?.end();
  const end = () => {
    if (child.pid !== undefined) endTree(child.pid);
  };
  // Windows can't ask a program to exit.
  if (process.platform === 'win32') end();
  await waitAtMost(GRACE_MS, ended, clock);
  // Ends the remaining processes of the group, even if the command exited by itself.
  end();
  await ended;
  child.stdout?.destroy();
  child.stderr?.destroy();
}

interface TunnelOptions {
  listensAt: string;
  clock: Clock;
  signal: AbortSignal;
  /** Whether to restart the tunnel when it breaks. */
  restarts: boolean;
  onUp: (url: string) => void;
  /** Called when the tunnel broke and will be restarted. */
  onDown: (error: unknown, message: string) => void;
}

const RESTART_DELAY: BackOff = { firstMs: 2_000, longestMs: 60_000 };

/**
 * Keeps a tunnel open until the signal aborts, then closes it.
 * @throws the error of a tunnel that isn't restarted; UsageError if the program doesn't exist.
 */
export async function keepTunnelOpen(line: string, options: TunnelOptions): Promise<void> {
  const { signal, clock, restarts, onUp, onDown } = options;
  const state = { failures: 0, wasUp: false };
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    const error = await runUntilBroken(line, options, (url) => {
      state.failures = 0;
      state.wasUp = true;
      onUp(url);
    });
    if (isStopped()) return;
    if (!restarts || (!state.wasUp && error instanceof UsageError)) throw error;
    const delayMs = backOff(state.failures++, RESTART_DELAY);
    onDown(error, `${sentenceOf(error)} Restarting it in ${delayMs / 1_000} s.`);
    await clock.sleep(delayMs, signal).catch(() => undefined);
  }
}

/** Runs the tunnel. Returns the error that broke it or kept it from starting, or the reason of the signal. */
async function runUntilBroken(
  line: string,
  { listensAt, clock, signal }: TunnelOptions,
  onUp: (url: string) => void,
): Promise<Error> {
  let tunnel: Tunnel | undefined;
  try {
    tunnel = await openTunnel(line, { listensAt, clock, signal });
    onUp(tunnel.url);
    await aborted(AbortSignal.any([signal, tunnel.broken]));
    return abortReason(tunnel.broken.aborted ? tunnel.broken : signal);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await tunnel?.close();
  }
}
