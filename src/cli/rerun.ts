import { command } from '../kernel/text/shell-words.ts';
import { commandLine } from './boot/process.ts';

/** The command of this run as one would type it; `ids` stand where its own ids were, `add` at its end. */
export function sameCommand(
  change: { own?: readonly string[]; ids?: readonly string[]; add?: readonly string[] } = {},
): string {
  const { own = [], ids = [], add = [] } = change;
  const { words } = commandLine;
  const at = words.findIndex((word) => own.includes(word));
  const replaced = words.flatMap((word, index) => (index === at ? ids : own.includes(word) ? [] : [word]));
  // What follows -- is no flag.
  const end = replaced.indexOf('--');
  const flags = end < 0 ? replaced.length : end;
  return command(...replaced.slice(0, flags), ...add, ...replaced.slice(flags));
}

/** True when the flag was given, alone or with its value. */
export function wasGiven(flag: string): boolean {
  return commandLine.words.some((word) => word === flag || word.startsWith(`${flag}=`));
}
