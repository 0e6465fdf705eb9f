import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { UsageError } from '../kernel/errors.ts';
import { isRecord, parseJson } from '../kernel/json.ts';
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
  ended(): Promise<unknown>;
  /** Stops the command and waits until it has exited. */
  stop(): Promise<void>;
}

/** How long to wait for a child to stop. */
const STOP_TIMEOUT_MS = 10_000;
const execute = promisify(execFile);

/**
 * Runs this program as child processes with separate settings and state, so that the demo doesn't touch the user's
 * profiles.
 */
export function childCommandLine(
  [program = process.execPath, ...first]: readonly string[],
  more: Readonly<Record<string, string>>,
  signal: AbortSignal,
): CommandLine {
  // Of the ESIGN_ variables, only ESIGN_TIMEOUT is passed on, so that it also works for the demo on a slow machine.
  const own = Object.entries(process.env).filter(([name]) => !/^(ESIGN_(?!TIMEOUT$)|AWS_)/.test(name));
  const added = { ...exemptLoopback(process.env), ...more, ESIGN_STOP_WITH_STDIN: '1' };
  const options = { env: childEnvironment(added, [], Object.fromEntries(own)), windowsHide: true };
  const argumentsOf = ([line, ...others]: Words) => [...first, ...line.split(' '), ...others];

  async function finish(words: Words): Promise<string> {
    try {
      return (await execute(program, argumentsOf(words), { ...options, signal })).stdout;
    } catch (error) {
      signal.throwIfAborted();
      throw failed(words, isRecord(error) ? String(error.stderr) : '');
    }
  }

  function start(...words: Words): RunningCommand {
    // Detached, so that the demo handles Ctrl-C, not the child. The child stops when its stdin closes, so it isn't left running if the demo
    // itself is killed.
    const child = spawn(program, argumentsOf(words), { ...options, stdio: 'pipe', detached: true });
    const exit = once(child, 'close').then(([code]: unknown[]) => code);
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

  return {
    run: async (...words) => parseJson(await finish(words)),
    lines: async (...words) => (await finish(words)).split('\n').filter(Boolean).map(parseJson),
    start,
  };
}

function failed([line]: Words, stderr: string): UsageError {
  return new UsageError(
    `\`esign ${line.split(' ', 2).join(' ')}\` failed: ${stderr.trim().replace(/^Error: /, '')}`,
    { hint: 'Run that command with --debug to see why.' },
  );
}
