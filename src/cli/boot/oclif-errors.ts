import type { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import { EsignError, messageOf, UsageError } from '../../kernel/errors.ts';
import { isRecord } from '../../kernel/json.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { command as commandLine } from '../../kernel/text/shell-words.ts';
import type { FailedCommand } from '../command-hints.ts';
import { HELP_TOPICS } from '../help-topics.ts';
import { hintForUnknown, type KnownCommands } from './suggestions.ts';

/** The text that oclif puts around an error thrown by a flag's own parser. */
const FLAG_ERROR = /^Parsing --\S+ \n\t(.*)\nSee more help with --help$/s;

/** Converts oclif's errors about flags, arguments, and commands to usage errors. Returns other errors unchanged. */
export function translateOclifError(
  error: unknown,
  config: Config | undefined,
  { name, words }: Pick<FailedCommand, 'name' | 'words'>,
): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof EsignError) {
    error.message = FLAG_ERROR.exec(error.message)?.[1] ?? error.message;
    return error;
  }
  if (/^command .+ not found\.?$/i.test(error.message) && config)
    return unknownCommand(words, new Map(config.commands.map((one) => [one.id.replaceAll(':', ' '), one])));
  if (!('oclif' in error)) return error;
  const help = `See \`esign ${name ? `${name} ` : ''}--help\`.`;
  const command = config?.findCommand(name.replaceAll(' ', ':'));
  const flags = flagsOf(error);
  if (flags !== undefined) return unknownFlag(flags, command, name);
  // oclif appends its own help hint and a list of flags.
  const [sentence = ''] = messageOf(error).split(/\n(?:See more help|USAGE|\nNote: --)/);
  return new UsageError(cleanMessage(sentence, command), { hint: help });
}

/** Returns the error for an unknown command, with what its words mean. */
export function unknownCommand(argv: readonly string[], commands: KnownCommands): UsageError {
  const words = argv[0] === '--json' ? argv.slice(1) : argv;
  const [first = '', second = ''] = words;
  if (first.startsWith('-')) return new UsageError(`Unknown flag ${first}.`, { hint: 'See `esign --help`.' });
  const isTopic = [...commands.keys()].some((name) => name.startsWith(`${first} `));
  const name = isTopic && !second.startsWith('-') ? `${first} ${second}`.trim() : first;
  const topics =
    argv.includes('--help') && !isTopic ? ` Topics: ${Object.keys(HELP_TOPICS).join(', ')}.` : '';
  return new UsageError(`Unknown command "${name}".`, {
    hint: `${hintForUnknown(words, commands)}${topics}`,
  });
}

/** Flags that select envelopes in lists. */
const FILTERS = /^--(status|template|signer|metadata|since|older-than|expiring-in)\b/;
const TAKES_IDS = /^envelopes (send|remind|cancel|watch|download)$/;

function unknownFlag(
  flags: readonly string[],
  command: Command.Loadable | undefined,
  name: string,
): UsageError {
  const [flag = ''] = flags;
  const help = `See \`esign ${name ? `${name} ` : ''}--help\`.`;
  const known = Object.keys(command?.flags ?? {}).map((one) => `--${one}`);
  const similar = flag.startsWith('--') ? nearest(flag, known) : undefined;
  const hint =
    FILTERS.test(flag) && TAKES_IDS.test(name)
      ? `Select the envelopes with a list, such as \`${commandLine('envelopes', 'list', '--status', 'open', '-q')} | ${commandLine(...name.split(' '), '-')}\`.`
      : similar === undefined
        ? help
        : `Did you mean ${similar}? ${help}`;
  return new UsageError(`Unknown flag ${flags.join(', ')}.`, { hint });
}

/** Returns the unknown flags in oclif's NonExistentFlagsError. */
function flagsOf(error: Error): string[] | undefined {
  const flags: unknown = 'flags' in error ? error.flags : undefined;
  if (!Array.isArray(flags) || !error.message.startsWith('Nonexistent flag')) return undefined;
  return flags.filter((flag) => typeof flag === 'string');
}

/** oclif's messages and their replacements. Values that may be secret are left out. */
const OCLIF_SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^Parsing (--\S+) \n\tExpected (.*) but received: $/s, '$1 takes $2, not an empty value.'],
  [/^Parsing (--\S+) \n\tExpected (.*) but received: (.*)$/s, '$1 takes $2, not $3.'],
  [/^Expected (--[^=\s]+)=(.*) to be one of: (.*)$/s, '$1 must be one of $3, not $2.'],
  [/^Expected (.*) to be one of: (.*)$/s, 'Expected one of $2, not $1.'],
  [/(--[^=\s]+)(?:=\S*)? cannot also be provided when using (--\S+)/g, "$2 and $1 can't be used together."],
  [/^All of the following must be provided when using (--\S+): (.*)$/s, '$1 requires $2.'],
  [/^(?:Exactly|At least) one of the following must be provided: (.*)$/s, 'Specify one of these: $1.'],
  [/^Flag (--\S+) expects one of these values: (.*)$/s, '$1 requires a value: one of $2.'],
  [/^Flag (--\S+) expects a value$/, '$1 requires a value.'],
  [/^Flag (--\S+) can only be specified once$/, '$1 can only be used once.'],
  [/^Unexpected (arguments?): (.*)$/s, 'Unexpected $1: $2.'],
];

function cleanMessage(message: string, command: Command.Loadable | undefined): string {
  const missing = (_: string, flag: string) => {
    const what = command?.flags[flag]?.description;
    return `Missing flag --${flag}${what === undefined ? '' : `: ${what}`}.`;
  };
  const plain = message
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(
      /^Missing 1 required arg:\n(\S+)\s+(.*)$/s,
      (_, name: string, what: string) => `Missing argument ${name.toUpperCase()}: ${what}.`,
    )
    .replaceAll(/Missing required flag (\S+)/g, missing);
  const ours = OCLIF_SENTENCES.reduce((text, [theirs, sentence]) => text.replace(theirs, sentence), plain);
  return ours.replaceAll(/\s*\n\s*/g, ' ').trim();
}

/** Returns true for the error of a prompt that was aborted with Ctrl-C. */
export function isAbortedPrompt(error: unknown): boolean {
  return isRecord(error) || error instanceof Error ? Reflect.get(error, 'name') === 'ExitPromptError' : false;
}
