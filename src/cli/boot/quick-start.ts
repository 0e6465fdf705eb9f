import { type Installation, versionOf } from './installation.ts';

/** What a command asks of oclif's Config; making a whole one takes longer than most commands. */
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
 * Runs the command that the first words name, without oclif's search for plugins and commands.
 * Returns false, having done nothing, for everything else: help, the version, words that name no command. oclif's runner
 * starts no command: what it would need for that is not in the bundle.
 */
export async function quickStart(argv: readonly string[], installed: Installation): Promise<boolean> {
  if (wantsHelp(argv)) return false;
  const found = findCommand(argv, installed);
  if (found === undefined) return false;
  const command = await found.load();
  if (!isCommand(command)) return false;
  await new command(argv.slice(found.words), quickConfig(installed)).run();
  return true;
}

/** True when help is asked for rather than the command itself. */
export function wantsHelp(argv: readonly string[]): boolean {
  return beforeDashes(argv).some((word) => HELP.has(word));
}

/** The words before `--`: behind it everything is an argument. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** The command that the longest run of first words names. */
function findCommand(
  argv: readonly string[],
  { commands }: Installation,
): { load: () => unknown; words: number } | undefined {
  for (const words of [2, 1]) {
    const parts = argv.slice(0, words);
    if (parts.length < words || !parts.every((part) => WORD.test(part))) continue;
    const id = parts.join(' ');
    const load = Object.hasOwn(commands, id) ? commands[id] : undefined;
    if (load) return { load, words };
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
