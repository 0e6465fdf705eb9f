import { distance } from 'fastest-levenshtein';
import { entryOf } from '../../kernel/json.ts';
import { isTypo, nearest } from '../../kernel/text/nearest.ts';
import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import type { Installation } from './installation.ts';

/** Verbs used by other tools, with the equivalent verbs of esign. */
const VERBS: Readonly<Record<string, string>> = { ls: 'list', show: 'get' };

/** Replaces aliases such as `help WORDS`, `envelopes ls`, and `templates show` with the actual commands. */
export function resolveAliases(
  argv: readonly string[],
  { commands }: Pick<Installation, 'commands'>,
): string[] {
  const [first = '', second = '', ...rest] = argv;
  if (first === 'sandbox' && second === 'exec') return [first, second, ...separated(rest)];
  if (first === 'help') return [...argv.slice(1), '--help'];
  if (asksForJsonOf(argv, Object.keys(commands))) return [...argv, '--help'];
  // Topics are plural, but the singular is accepted, too.
  const topic = isTopic(`${first}s`, commands) && !isTopic(first, commands) ? `${first}s` : first;
  const ours = entryOf(VERBS, second);
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
const EXEC_VALUES = new Set(['--seed', '--ids', '--clock', '--profile', '-p', '--base-url', '--timeout']);

/** Adds `--` before the command to run, so that its own `--json` or `--help` is left alone. */
function separated(words: readonly string[]): string[] {
  let at = 0;
  while (at < words.length && words[at] !== '--' && words[at]?.startsWith('-'))
    at += EXEC_VALUES.has(words[at] ?? '') ? 2 : 1;
  return at >= words.length || words[at] === '--'
    ? [...words]
    : [...words.slice(0, at), '--', ...words.slice(at)];
}

const TOPIC_ALIASES = aliasTable({
  envelopes: 'env, envs, envelope, contract, contracts',
  templates: 'template',
  profiles: 'profile',
  events: 'event',
  documents: 'document, docs',
});

/**
 * Words that users try, by the command they mean. A single word may also follow `envelopes`. A verb for reading never leads to a
 * command that emails.
 */
const ALIASES = aliasTable({
  'envelopes list': 'list, ls, all',
  'envelopes list --status COMPLETED': 'documents ls, documents list',
  'envelopes get ID': 'get, show, view, read, see, look, cat, check, seen, open, info, describe',
  'envelopes get ID --history': 'history, log',
  report: 'status, stats, stat, summary, envelopes summary',
  'envelopes watch ID': 'wait, watch',
  'envelopes download ID': 'download, pull, pdf',
  'envelopes evidence ID --dir DIR': 'evidence',
  'envelopes create': 'new, add, create, make',
  'envelopes create --send': 'send',
  'envelopes replace ID': 'edit, update, fix, correct, change, replace',
  'envelopes remind ID': 'remind, resend, nudge',
  'envelopes cancel ID': 'cancel, void, delete, remove, rm, revoke',
  'find TEXT': 'find, search',
  'sandbox sign ID': 'sign',
  'sandbox mails': 'sandbox mail',
  'sandbox reset': 'sandbox clear',
  'sandbox start': 'sandbox run',
  doctor: 'sandbox status',
  listen: 'webhook, webhooks, tunnel, events listen',
  'events list': 'events ls, webhooks list',
  'events trigger EVENT --to URL': 'events send, webhooks trigger',
  'events replay ID --to URL': 'events resend, webhooks replay',
  'profiles add NAME --base-url URL': 'login, init, auth login, profiles new',
  'profiles edit NAME': 'profiles update',
  'profiles remove NAME': 'logout, auth logout, profiles delete',
  'profiles list': 'auth',
  'profiles show': 'whoami, config, auth status',
  'bulk create FILE': 'bulk import, bulk new, bulk run',
  'bulk create FILE --send': 'bulk send',
  'bulk resume RUN': 'bulk retry, bulk continue',
  'bulk show RUN': 'bulk get',
  'bulk list': 'bulk ls',
  'bulk export RUN': 'bulk download, bulk results',
  'documents download KEY': 'documents get',
  'templates list --search TEXT': 'templates find, templates search',
  autocomplete: 'completion, completions',
});

function aliasTable(wordsByTarget: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(wordsByTarget).flatMap(([target, words]) =>
      words.split(', ').map((word) => [word, target]),
    ),
  );
}

/** Returns the command that unknown words most likely mean. Returns undefined rather than guess wrong. */
export function suggestCommand(words: string, names: readonly string[]): string | undefined {
  const [first = '', ...rest] = words.split(' ');
  const parts = [TOPIC_ALIASES.get(first) ?? first, ...rest];
  const [topic = '', verb] = parts;
  // `envelopes get x y` is treated as one long command name if an argument is not expected.
  for (let length = Math.min(2, parts.length); length > 0; length--) {
    const name = parts.slice(0, length).join(' ');
    if (names.includes(name)) return name;
  }
  const alias =
    topic === 'envelopes' ? ALIASES.get(verb ?? '') : (ALIASES.get(`${topic} ${verb}`) ?? ALIASES.get(topic));
  if (alias !== undefined) return alias;
  if (verb === undefined) return findMisspelled(topic, names);
  const topics = new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? ''));
  const near = topics.has(topic) ? undefined : findMisspelled(topic, [...topics]);
  if (near !== undefined) return suggestCommand([near, ...rest].join(' '), names);
  return findMisspelled(`${topic} ${verb}`, names) ?? findMisspelled(topic, names);
}

/** Returns the name that differs by one letter or two swapped letters. */
function findMisspelled(typed: string, names: readonly string[]): string | undefined {
  const isNear = (name: string) => isTypo(typed, name) || distance(typed, name) <= maxEdits(name);
  return nearest(typed, names.filter(isNear));
}

/** Allows a second wrong letter unless a word is short, where it usually means another word, or the command emails or deletes. */
function maxEdits(name: string): number {
  const effect = COMMAND_EFFECTS[name.replaceAll(' ', ':')] ?? 'local';
  const isHarmless = effect === 'reads' || effect === 'local';
  return isHarmless && name.split(' ').every((word) => word.length > 4) ? 2 : 1;
}
