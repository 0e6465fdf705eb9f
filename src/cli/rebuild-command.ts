import { command } from '../kernel/text/shell-words.ts';

/** The most IDs to show in a command that is meant to be copied. */
export const MAX_COPIED_IDS = 20;

/** Returns the command as typed (`words`), with its IDs replaced by `ids`, and with `add` at the end. */
export function rebuildCommand(
  words: readonly string[],
  change: { own?: readonly string[]; ids?: readonly string[]; add?: readonly string[] } = {},
): string {
  const { own = [], ids = [], add = [] } = change;
  const at = words.findIndex((word) => own.includes(word));
  const replaced = words.flatMap((word, index) => (index === at ? ids : own.includes(word) ? [] : [word]));
  // Words after -- are not flags.
  const end = replaced.indexOf('--');
  const flags = end < 0 ? replaced.length : end;
  return command(...replaced.slice(0, flags), ...add, ...replaced.slice(flags));
}

/** Returns true if the words include the flag, alone or with its value. */
export function hasFlag(words: readonly string[], flag: string): boolean {
  return words.some((word) => word === flag || word.startsWith(`${flag}=`));
}
