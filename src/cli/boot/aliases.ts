import { ownValue } from '../../kernel/json.ts';
import { isTypo, nearest } from '../../kernel/text/nearest.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import type { Installation } from './installation.ts';

/** Commands by the words that people try first. Those that send anything are only suggested (ALIASES). */
const HIDDEN_ALIASES: Readonly<Record<string, readonly string[]>> = {
  login: ['profiles', 'add'],
  whoami: ['profiles', 'show'],
  list: ['envelopes', 'list'],
  ls: ['envelopes', 'list'],
  get: ['envelopes', 'get'],
  show: ['envelopes', 'get'],
  watch: ['envelopes', 'watch'],
  download: ['envelopes', 'download'],
  search: ['find'],
};

/** Verbs used by other tools, with the equivalent verbs of esign. */
const VERBS: Readonly<Record<string, string>> = { ls: 'list', show: 'get' };

/** Replaces aliases such as `help WORDS`, `envelopes ls`, and `templates show` with the actual commands. */
export function resolveAliases(
  argv: readonly string[],
  { commands }: Pick<Installation, 'commands'>,
): string[] {
  const [first = '', second = '', ...rest] = argv;
  if (first === 'sandbox' && second === 'exec') return [first, second, ...separated(rest)];
  if (first === 'help') return [...resolveAliases(argv.slice(1), { commands }), '--help'];
  const alias = ownValue(HIDDEN_ALIASES, first);
  if (alias !== undefined) return [...alias, ...argv.slice(1)];
  if (asksForJsonOf(argv, Object.keys(commands))) return [...argv, '--help'];
  // Topics are plural, but the singular is accepted, too.
  const topic = isTopic(`${first}s`, commands) && !isTopic(first, commands) ? `${first}s` : first;
  const ours = ownValue(VERBS, second);
  const isKnownVerb = (verb: string) => Object.hasOwn(commands, `${topic} ${verb}`);
  if (ours !== undefined && !isKnownVerb(second) && isKnownVerb(ours)) return [topic, ours, ...rest];
  return topic === first ? [...argv] : [topic, ...argv.slice(1)];
}

function isTopic(word: string, commands: Installation['commands']): boolean {
  return Object.keys(commands).some((name) => name === word || name.startsWith(`${word} `));
}

/** Returns true if `--json` is used without a command, which prints the help as JSON. */
function asksForJsonOf(argv: readonly string[], names: readonly string[]): boolean {
  const words = argv.filter((word) => word !== '--json');
  const [topic] = words;
  if (words.length === argv.length || words.length > 1) return false;
  return (
    topic === undefined || (!names.includes(topic) && names.some((name) => name.startsWith(`${topic} `)))
  );
}

/** Flags of `sandbox exec` that take a value. */
const EXEC_VALUES = new Set(
  wordList(`--profile -p --base-url --timeout --seed --like --rate-limit --quota --fault --choice --clock
    --ids`),
);

/** Adds `--` before the command to run, so that its own `--json` or `--help` is left alone. */
function separated(words: readonly string[]): string[] {
  let at = 0;
  while (at < words.length && words[at] !== '--' && words[at]?.startsWith('-'))
    at += EXEC_VALUES.has(words[at] ?? '') ? 2 : 1;
  return at >= words.length || words[at] === '--'
    ? [...words]
    : [...words.slice(0, at), '--', ...words.slice(at)];
}

/** Words that users try, by the command they mean. A single word may also follow `envelopes`. */
const ALIASES = aliasTable({
  'envelopes list': 'all',
  'envelopes get ID': 'view, read, see, seen, open, check, info, describe',
  'envelopes get ID --history': 'history',
  report: 'status, stats',
  'envelopes watch ID': 'wait',
  'envelopes download ID': 'pull, pdf',
  'envelopes create': 'new, add, create, make',
  'envelopes send ID': 'send',
  'envelopes replace ID': 'edit, update, fix, correct, change, replace',
  'envelopes remind ID': 'remind, resend, nudge',
  'envelopes cancel ID': 'cancel, void, delete, remove, rm, revoke',
  'sandbox sign ID': 'sign',
  doctor: 'sandbox status',
  listen: 'webhook, webhooks, tunnel',
  'events trigger EVENT --to URL': 'events send',
  'events replay ID --to URL': 'events resend',
  'profiles add': 'init, auth',
  'profiles remove NAME': 'logout, profiles delete',
  'profiles show': 'config',
  'bulk create FILE': 'bulk import, bulk new, bulk run',
  'bulk create FILE --send': 'bulk send',
  'bulk resume RUN': 'bulk retry, bulk continue',
  'bulk status RUN': 'bulk get',
  'bulk export RUN': 'bulk download, bulk results',
  'documents download KEY': 'documents get',
  autocomplete: 'completion, completions',
});

function aliasTable(wordsByTarget: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(wordsByTarget).flatMap(([target, words]) =>
      words.split(', ').map((word) => [word, target]),
    ),
  );
}

/** Returns the command with the arguments in place of its placeholder. */
export function withArguments(target: string, given: readonly string[]): string {
  if (given.length === 0) return command(...target.split(' '));
  const words = target.split(' ');
  const at = words.findIndex((word) => /^[A-Z]+$/.test(word));
  return command(
    ...(at < 0 ? [...words, ...given] : [...words.slice(0, at), ...given, ...words.slice(at + 1)]),
  );
}

/** A command, possibly with placeholders for its arguments, and how many of the typed words it replaces. */
export interface Suggestion {
  command: string;
  replaces: number;
}

/** Returns the command or topic that unknown words most likely mean, or undefined if none is similar. */
export function suggestCommand(words: string, names: readonly string[]): Suggestion | undefined {
  const [topic = '', verb = ''] = words.split(' ');
  const ofBoth = ALIASES.get(topic === 'envelopes' ? verb : `${topic} ${verb}`);
  if (ofBoth !== undefined) return { command: ofBoth, replaces: 2 };
  const ofFirst = ALIASES.get(topic);
  if (ofFirst !== undefined) return { command: ofFirst, replaces: 1 };
  const typed = `${topic} ${verb}`.trim();
  const similar = nearest(
    typed,
    names.filter((name) => isHarmless(name) || isTypo(typed, name)),
  );
  if (similar !== undefined) return { command: similar, replaces: verb === '' ? 1 : 2 };
  const topics = names.flatMap((name) => name.split(' ').slice(0, -1));
  if (topics.includes(topic)) return undefined;
  const first = nearest(topic, verb === '' ? topics : names.filter(isHarmless));
  return first === undefined ? undefined : { command: first, replaces: 1 };
}

/** Returns false for a command that emails or deletes. It is suggested only for a typo of its name. */
function isHarmless(name: string): boolean {
  const effect = COMMAND_EFFECTS[name.replaceAll(' ', ':')];
  return effect === 'reads' || effect === 'local';
}
