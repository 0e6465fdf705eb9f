import type { Config } from '@oclif/core/config';
import { EsignError } from '../kernel/errors.ts';
import { provideHome } from '../kernel/files/paths.ts';
import { processTerminal } from '../output/terminal.ts';
import { safeBlock } from '../output/text.ts';
import { waitingIndicator } from '../output/waiting-indicator.ts';
import { resolveAliases } from './boot/aliases.ts';
import { type Installation, type LoadCommand, versionOf } from './boot/installation.ts';
import { isAbortedPrompt, translateOclifError } from './boot/oclif-errors.ts';
import { isWriteCommand, lostOutput } from './boot/standard-output.ts';
import { adviceFor } from './command-hints.ts';
import { errorText } from './error-report.ts';
import { exitCodeOf } from './exit-codes.ts';
import { bindInvocation, createInvocation, type Invocation } from './session/invocation.ts';
import { saveObservations } from './session/seen-data.ts';

// Otherwise, the V8 of Node 20 would optimize undici's parser at the end of every short run (docs/contributing/decisions/0008).
if (process.versions.v8.startsWith('11.'))
  process.getBuiltinModule('node:v8').setFlagsFromString('--liftoff-only');

/**
 * Runs one command line. Unlike oclif's runner, it has a single error reporter, sets the exit code, and never calls
 * process.exit with pending output: the process exits by itself when everything is written.
 */
export async function main(words: string[], installed: Installation): Promise<void> {
  const argv = resolveAliases(words, installed);
  const invocation = createInvocation(argv);
  const { output, observations, interrupt } = invocation;
  output.watch();
  provideHome();
  process.once('exit', () => waitingIndicator.clear());
  // oclif would print its own JSON if this variable is set.
  delete process.env.ESIGN_CONTENT_TYPE;
  // NO_COLOR has priority. Node prints a warning if both are set.
  if (process.env.NO_COLOR) delete process.env.FORCE_COLOR;
  const reportUnfinished = () =>
    void report(new Error('a step of the command never finished'), invocation, installed);
  process.once('beforeExit', reportUnfinished);
  let error: unknown;
  try {
    await runCommand(invocation, installed);
  } catch (reason) {
    error = reason ?? new Error('no reason given');
  }
  await output.flushed();
  if (output.lost !== undefined) await report(lostOutput(output.lost, error), invocation, installed);
  else if (error !== undefined) await report(error, invocation, installed);
  process.off('beforeExit', reportUnfinished);
  await saveObservations(observations);
  interrupt.finish();
}

async function runCommand(invocation: Invocation, installed: Installation): Promise<void> {
  const { words: argv } = invocation;
  if (wantsJson(argv) && wantsHelp(argv)) {
    const { printDescription } = await import('./describe/describe-commands.ts');
    await printDescription(beforeDashes(argv), installed);
  } else if (!(await quickStart(invocation, installed))) await runWithOclif(invocation, installed);
}

/** Prints help and reports unknown commands. */
async function runWithOclif({ words, output }: Invocation, installed: Installation): Promise<void> {
  const { run } = await import('./boot/oclif.ts');
  const config = await loadConfig(installed);
  // oclif has added a listener for errors of stdout that throws.
  output.watch();
  await run([...words], config);
}

async function loadConfig(installed: Installation): Promise<Config> {
  const { Config } = await import('./boot/oclif.ts');
  return Config.load({ root: installed.root });
}

async function report(error: unknown, invocation: Invocation, installed: Installation): Promise<void> {
  const { words: argv, interrupt, redactor, observations, account } = invocation;
  if (isAbortedPrompt(error)) interrupt.interrupt('SIGINT');
  if (interrupt.signal.aborted && isInterruption(error)) return;
  // Only oclif's errors need its list of commands, for a hint.
  const config = error instanceof EsignError ? undefined : await loadConfig(installed).catch(() => undefined);
  const terminal = processTerminal({});
  const json = wantsJson(argv);
  const exitCode = interrupt.exitCode();
  const id = findCommand(argv, installed)?.id ?? '';
  const name = id.replaceAll(':', ' ');
  const known = translateOclifError(error, config, { name, words: argv });
  const advice = await adviceFor(known, { name, words: argv, observations });
  terminal.err(
    errorText(known, {
      json,
      redactor,
      style: terminal.styleErr,
      exitCode,
      advice,
      account,
      isWrite: isWriteCommand(id, beforeDashes(argv)),
    }),
  );
  // The stack may contain untrusted text. With --json, stderr must be a single line.
  if (process.env.DEBUG && !json && known instanceof Error)
    terminal.err(`${safeBlock(redactor.redact(known.stack ?? ''))}\n`);
  process.exitCode = exitCode ?? exitCodeOf(known);
}

/** Returns true for the rejection of an interrupted run. A failure during the stop is still an error. */
function isInterruption(error: unknown): boolean {
  return isAbortedPrompt(error) || (error instanceof Error && /^(Interrupted|\w*Abort\w*)$/.test(error.name));
}

function wantsJson(argv: readonly string[]): boolean {
  return beforeDashes(argv).some((word) => word === '--json');
}

/** The part of oclif's Config that commands use. Creating a complete one takes longer than running most commands. */
interface QuickConfig {
  bin: string;
  /** The folder of the package. */
  root: string;
  version: string;
  runHook(): Promise<{ successes: never[]; failures: never[] }>;
}

type QuickCommand = new (argv: string[], config: QuickConfig) => { run(): Promise<unknown> };

const WORD = /^[a-z][a-z-]*$/;
const HELP = new Set(['--help', '-h']);

/**
 * Runs the command named by the first arguments, without oclif's search for plugins and commands.
 * Returns false without doing anything for help, the version, and unknown commands. Commands are started only here:
 * the bundle doesn't include the parts of oclif's runner that could start them.
 */
async function quickStart(invocation: Invocation, installed: Installation): Promise<boolean> {
  const { words: argv } = invocation;
  if (wantsHelp(argv)) return false;
  const found = findCommand(argv, installed);
  if (found === undefined) return false;
  const { default: command } = await found.load();
  if (!isCommand(command)) return false;
  // Loading oclif's base class added another listener.
  invocation.output.watch();
  invocation.output.prepare(found.id, beforeDashes(argv));
  const config = bindInvocation(quickConfig(installed), {
    ...invocation,
    command: found.id.replaceAll(':', ' '),
  });
  await new command(argv.slice(found.words), config).run();
  return true;
}

function wantsHelp(argv: readonly string[]): boolean {
  return beforeDashes(argv).some((word) => HELP.has(word));
}

/** Returns the arguments before `--`; everything after it is positional. */
function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** Returns the command with the longest name that the first arguments match. */
function findCommand(
  argv: readonly string[],
  { commands }: Installation,
): { id: string; load: LoadCommand; words: number } | undefined {
  for (const words of [2, 1]) {
    const parts = argv.slice(0, words);
    if (parts.length < words || !parts.every((part) => WORD.test(part))) continue;
    const id = parts.join(' ');
    const load = Object.hasOwn(commands, id) ? commands[id] : undefined;
    if (load) return { id: parts.join(':'), load, words };
  }
  return undefined;
}

function isCommand(value: unknown): value is QuickCommand {
  return typeof value === 'function' && 'baseFlags' in value;
}

function quickConfig(installed: Installation): QuickConfig {
  return {
    bin: 'esign',
    root: installed.root,
    version: versionOf(installed),
    runHook: () => Promise.resolve({ successes: [], failures: [] }),
  };
}
