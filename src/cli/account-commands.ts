import { command } from '../kernel/text/shell-words.ts';
import type { RunAccount } from './session/account.ts';

/** A command of ours in a text, with quoted words as a whole. It ends at a pipe or a backtick. */
const OURS = /esign(?: (?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"`|\\])+)+/g;

/** Commands that don't use an account, or name it themselves. */
const WITHOUT_ACCOUNT =
  /^esign (?:(?:profiles (?!show)|sandbox (?:start|exec)\b|demo\b|help\b|autocomplete\b|bulk template\b)|.*--help\b|.*(?:^| )(?:-p|--profile)[ =])/;

/** Returns a command that is ready to run with the account of this run. */
export function commandForAccount({ flags }: RunAccount, ...words: readonly string[]): string {
  return withFlags(command(...words), flags);
}

/** Adds the account of this run to the commands in backticks, so that each means what the text says. */
export function withAccount(text: string, { flags, settings }: RunAccount): string {
  const name = settings?.profileName?.value;
  if (flags.length === 0 && name === undefined) return text;
  return text.replace(/`esign [^`\n]*`/g, (span) =>
    span.replace(OURS, (one) => withFlags(withProfile(one, name), flags)),
  );
}

/** Puts the name of the profile in use in the place of a placeholder. */
function withProfile(ours: string, name: string | undefined): string {
  return name === undefined
    ? ours
    : ours.replace(/^esign profiles edit NAME\b/, () => command('profiles', 'edit', name));
}

/** Words after -- are not flags. */
function withFlags(ours: string, flags: readonly string[]): string {
  if (flags.length === 0 || WITHOUT_ACCOUNT.test(ours)) return ours;
  // The profile that these commands use anyway.
  if (ours.startsWith('esign sandbox ') && flags.join(' ') === '--profile sandbox') return ours;
  const added = command(...flags).slice('esign '.length);
  const [before = '', ...positional] = ours.split(' -- ');
  return [`${before} ${added}`, ...positional].join(' -- ');
}
