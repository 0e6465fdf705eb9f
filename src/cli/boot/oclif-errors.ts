import type { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import { EsignError, messageOf, UsageError } from '../../kernel/errors.ts';
import { isRecord } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';

/** What oclif makes of the message of an error that a flag's own parser throws. */
const OF_A_FLAG = /^Parsing --\S+ \n\t(.*)\nSee more help with --help$/s;

/** Anything thrown, with what oclif reports about flags, arguments and commands made into usage errors of ours. */
export function translate(error: unknown, config: Config | undefined, argv: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof EsignError) {
    error.message = OF_A_FLAG.exec(error.message)?.[1] ?? error.message;
    return error;
  }
  const commandNotFound = /^command (.+) not found$/.exec(error.message)?.[1];
  if (commandNotFound !== undefined && config) return unknownCommand(commandNotFound, config);
  if (!('oclif' in error)) return error;
  const id = commandId(config, argv);
  const help = `See \`esign ${id ? `${id} ` : ''}--help\`.`;
  const flags = flagsOf(error);
  if (flags !== undefined) return unknownFlag(flags, config, id, help);
  // oclif appends its own pointer to the help, and lists what it knows of each flag.
  const [sentence = ''] = messageOf(error).split(/\n(?:See more help|USAGE)/);
  return new UsageError(tidy(sentence, config?.findCommand(id.replaceAll(' ', ':'))), { hint: help });
}

function unknownCommand(id: string, config: Config): UsageError {
  const words = id.replaceAll(':', ' ');
  const names = config.commands.map((command) => command.id.replaceAll(':', ' '));
  const meant = nearest(words, names) ?? nearestBeginning(words, names);
  return new UsageError(`There is no command "${words}".`, {
    hint:
      meant === undefined ? 'See `esign --help`.' : `Did you mean \`esign ${meant}\`? See \`esign --help\`.`,
  });
}

/** `envelopes get x y` is routed as one long command name when an argument is not expected. */
function nearestBeginning(words: string, names: readonly string[]): string | undefined {
  const parts = words.split(' ');
  for (let length = parts.length - 1; length > 0; length--) {
    const meant = nearest(parts.slice(0, length).join(' '), names);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

function unknownFlag(
  flags: readonly string[],
  config: Config | undefined,
  id: string,
  help: string,
): UsageError {
  const [flag = ''] = flags;
  const command = config?.findCommand(id.replaceAll(' ', ':'));
  const known = Object.keys(command?.flags ?? {}).map((name) => `--${name}`);
  const meant = flag.startsWith('--') ? nearest(flag, known) : undefined;
  return new UsageError(`There is no flag ${flags.join(', ')}.`, {
    hint: meant === undefined ? help : `Did you mean ${meant}? ${help}`,
  });
}

/** The unknown flags of oclif's NonExistentFlagsError. */
function flagsOf(error: Error): string[] | undefined {
  const flags: unknown = 'flags' in error ? error.flags : undefined;
  if (!Array.isArray(flags) || !error.message.startsWith('Nonexistent flag')) return undefined;
  return flags.filter((flag) => typeof flag === 'string');
}

function commandId(config: Config | undefined, argv: readonly string[]): string {
  const words: string[] = [];
  for (const word of argv) {
    if (word.startsWith('-')) break;
    words.push(word);
  }
  for (let length = words.length; length > 0; length--) {
    const id = words.slice(0, length).join(':');
    if (config?.findCommand(id)) return id.replaceAll(':', ' ');
  }
  return '';
}

function tidy(message: string, command: Command.Loadable | undefined): string {
  const missing = (_: string, flag: string) => {
    const what = command?.flags[flag]?.description;
    return `The flag --${flag} is missing${what === undefined ? '' : `: ${what}`}.`;
  };
  return message
    .replace(/^The following errors? occurred:\s*/, '')
    .replaceAll(/Missing required flag (\S+)/g, missing)
    .replace(/^Missing 1 required arg:\n(\S+)\s+(.*)$/s, 'The argument $1 is missing: $2')
    .replace(/^Parsing (--\S+) \n\tExpected (.*) but received: (.*)$/s, '$1 takes $2, not $3.')
    .replace(/^Unexpected argument/, 'There is one argument too many')
    .trim();
}

/** True when the error is a prompt that was ended with Ctrl-C. */
export function isAbortedPrompt(error: unknown): boolean {
  return isRecord(error) || error instanceof Error ? Reflect.get(error, 'name') === 'ExitPromptError' : false;
}
