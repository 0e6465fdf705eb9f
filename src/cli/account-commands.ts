import { command } from '../kernel/text/shell-words.ts';
import type { RunAccount } from '../session/account.ts';

/** A command of ours in a text, with quoted words as a whole. It ends at a pipe or a backtick. */
const OURS = /esign(?: (?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"`|\\])+)+/g;

/** Commands that don't use an account, or name it themselves. */
const WITHOUT_ACCOUNT =
  /^esign (?:(?:profiles (?!show)|sandbox (?:start|exec)\b|demo\b|help\b|autocomplete\b|bulk template\b)|.*--help\b|.*(?:^| )(?:-p|--profile)[ =])/;

/** Returns a command that is ready to run with the account of this run. */
export function accountCommand({ flags }: RunAccount, ...words: readonly string[]): string {
  return withFlags(command(...words), flags);
}

/** Adds the account of this run to the commands in backticks, so that each means what the text says. */
export function withAccount(text: string, { flags }: RunAccount): string {
  if (flags.length === 0) return text;
  return text.replace(/`esign [^`\n]*`/g, (span) => span.replace(OURS, (one) => withFlags(one, flags)));
}

/** Words after -- are not flags. */
function withFlags(ours: string, flags: readonly string[]): string {
  if (flags.length === 0 || WITHOUT_ACCOUNT.test(ours)) return ours;
  const added = command(...flags).slice('esign '.length);
  const [before = '', ...positional] = ours.split(' -- ');
  return [`${before} ${added}`, ...positional].join(' -- ');
}
