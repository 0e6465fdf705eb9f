import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { abortReason } from '../kernel/clock.ts';
import { type EsignError, UsageError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { childEnvironment } from '../kernel/process/child-environment.ts';
import type { CommandLine, Running } from './command-line.ts';

/** How long to wait for a child to stop. */
const STOP_TIMEOUT_MS = 10_000;

/**
 * Runs this program as child processes with separate settings and state, so that the demo doesn't touch the user's
 * profiles.
 */
export function childCommandLine(
  program: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): CommandLine {
  const [command = process.execPath, ...first] = program;
  // Of the ESIGN_ variables, only ESIGN_TIMEOUT is passed on, so that it also works for the demo on a slow machine.
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ESIGN_(?!TIMEOUT$)|AWS_)/.test(name)),
  );
  // Children are detached so that the demo handles Ctrl-C, not the children. They stop when their stdin closes, so none is left running if
  // the demo itself is killed.
  const launch = (args: readonly string[]) =>
    spawn(command, [...first, ...args], {
      env: childEnvironment({ ...env, ESIGN_STOP_WITH_STDIN: '1' }, [], clean),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
    });

  async function finish(args: readonly string[]): Promise<string> {
    const child = launch(args);
    const stop = () => child.kill();
    signal.addEventListener('abort', stop, { once: true });
    const [stdout, stderr, code] = await Promise.all([
      readAll(child.stdout),
      readAll(child.stderr),
      exitOf(child),
    ]);
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
    if (code === 0) return stdout;
    throw failed(args, stderr);
  }

  return {
    run: async (args) => parseJson(await finish(args)),
    lines: async (args) => (await finish(args)).split('\n').filter(Boolean).map(parseJson),
    start: (args) => running(launch(args), args, signal),
  };
}

function running(child: ChildProcess, args: readonly string[], signal: AbortSignal): Running {
  const exit = exitOf(child);
  const stderr = readAll(child.stderr);
  const lines = child.stdout && createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<string>> | undefined;
  return {
    async line(timeoutMs) {
      if (!lines) return undefined;
      // A read that timed out is kept, so that its line isn't lost.
      pending ??= lines.next();
      const next = await (timeoutMs === undefined
        ? orAborted(pending, signal)
        : orUndefined(pending, timeoutMs));
      if (next === undefined) return undefined;
      pending = undefined;
      if (next.done) throw failed(args, await stderr);
      return parseJson(next.value);
    },
    ended: () => exit,
    async stop() {
      // Closes stdin instead of sending a signal, which on Windows would end the child before it can delete its folder.
      child.stdin?.end();
      const late = setTimeout(() => child.kill(), STOP_TIMEOUT_MS);
      await exit.finally(() => clearTimeout(late));
    },
  };
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(abortReason(signal));
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function orUndefined<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  if (stream) for await (const chunk of stream) text += String(chunk);
  return text;
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? -1));
  });
}

function failed(args: readonly string[], stderr: string): EsignError {
  return new UsageError(
    `\`esign ${args.slice(0, 2).join(' ')}\` failed: ${stderr.trim().replace(/^Error: /, '')}`,
    { hint: 'Run that command with --debug to see why.' },
  );
}
