import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type EsignError, UsageError } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { exemptLoopback } from '../kernel/network/proxy.ts';
import { childEnvironment } from '../kernel/process/child-environment.ts';

/** A command line: words without spaces, followed by arguments that may contain some. */
type Words = readonly [line: string, ...more: string[]];

/** The command line as scripts use it: runs commands and parses their JSON output. */
export interface CommandLine {
  /** Runs a command and returns its JSON. Rejects with its output if it fails. */
  run(...words: Words): Promise<unknown>;
  /** Runs a command and returns its JSON Lines. */
  lines(...words: Words): Promise<unknown[]>;
  /** Starts a command that keeps running. */
  start(...words: Words): RunningCommand;
}

export interface RunningCommand {
  /** Returns the next JSON line of its stdout. Rejects if the command has exited. */
  line(): Promise<unknown>;
  /** Resolves with the exit code when the command exits by itself. */
  ended(): Promise<number>;
  /** Stops the command and waits until it has exited. */
  stop(): Promise<void>;
}

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
  const launch = ([line, ...more]: Words) =>
    spawn(command, [...first, ...line.split(' '), ...more], {
      env: childEnvironment(
        { ...exemptLoopback(process.env), ...env, ESIGN_STOP_WITH_STDIN: '1' },
        [],
        clean,
      ),
      stdio: 'pipe',
      detached: true,
      windowsHide: true,
    });

  async function finish(words: Words): Promise<string> {
    const child = launch(words);
    const stop = () => child.kill();
    signal.addEventListener('abort', stop, { once: true });
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
    if (code === 0) return stdout;
    throw failed(words, stderr);
  }

  return {
    run: async (...words) => parseJson(await finish(words)),
    lines: async (...words) => (await finish(words)).split('\n').filter(Boolean).map(parseJson),
    start: (...words) => followChild(launch(words), words, signal),
  };
}

function followChild(
  child: ChildProcessWithoutNullStreams,
  words: Words,
  signal: AbortSignal,
): RunningCommand {
  const exit = exitOf(child);
  const stderr = text(child.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const end = () => child.stdin.end();
  signal.addEventListener('abort', end, { once: true });
  return {
    async line() {
      const next = await lines.next();
      if (!next.done) return parseJson(next.value);
      signal.throwIfAborted();
      throw failed(words, await stderr);
    },
    ended: () => exit,
    async stop() {
      // Closes stdin instead of sending a signal, which on Windows would end the child before it can delete its folder.
      end();
      const late = setTimeout(() => child.kill(), STOP_TIMEOUT_MS);
      await exit.finally(() => clearTimeout(late));
    },
  };
}

function exitOf(child: ChildProcessWithoutNullStreams): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? -1));
  });
}

function failed([line]: Words, stderr: string): EsignError {
  return new UsageError(
    `\`esign ${line.split(' ', 2).join(' ')}\` failed: ${stderr.trim().replace(/^Error: /, '')}`,
    { hint: 'Run that command with --debug to see why.' },
  );
}
