import { bindInvocation, type Invocation } from '../invocation.ts';
import { type Installation, versionOf } from './installation.ts';

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
export async function quickStart(
  argv: readonly string[],
  installed: Installation,
  invocation: Invocation,
): Promise<boolean> {
  if (wantsHelp(argv)) return false;
  const found = findCommand(argv, installed);
  if (found === undefined) return false;
  const command = await found.load();
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

/** Returns true if the arguments ask for help. */
export function wantsHelp(argv: readonly string[]): boolean {
  return beforeDashes(argv).some((word) => HELP.has(word));
}

/** Returns the arguments before `--`; everything after it is positional. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** Returns the command with the longest name that the first arguments match. */
function findCommand(
  argv: readonly string[],
  { commands }: Installation,
): { id: string; load: () => unknown; words: number } | undefined {
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
