import { distance } from 'fastest-levenshtein';
import { entryOf } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import type { Installation } from './installation.ts';

/** Verbs of other tools that mean one of ours, where ours is not a command already. */
const VERBS: Readonly<Record<string, string>> = { ls: 'list', show: 'get' };

/** The command line in our words: `help WORDS`, `envelopes ls`, `templates show`. */
export function inOurWords(argv: readonly string[], { commands }: Pick<Installation, 'commands'>): string[] {
  const [first = '', second = '', ...rest] = argv;
  if (first === 'sandbox' && second === 'exec') return [first, second, ...separated(rest)];
  if (first === 'help') return [...argv.slice(1), '--help'];
  if (asksForJsonOf(argv, Object.keys(commands))) return [...argv, '--help'];
  const ours = entryOf(VERBS, second);
  const isOurs = (verb: string) => Object.hasOwn(commands, `${first} ${verb}`);
  return ours !== undefined && !isOurs(second) && isOurs(ours) ? [first, ours, ...rest] : [...argv];
}

/** `--json` with no command: for a program the help is JSON, too. */
function asksForJsonOf(argv: readonly string[], names: readonly string[]): boolean {
  const words = argv.filter((word) => word !== '--json');
  const [topic] = words;
  if (words.length === argv.length || words.length > 1) return false;
  return (
    topic === undefined || (!names.includes(topic) && names.some((name) => name.startsWith(`${topic} `)))
  );
}

/** Flags of `sandbox exec` that take a word of their own. */
const EXEC_VALUES = new Set(['--seed', '--profile', '-p', '--base-url', '--timeout']);

/** With `--` before the command that is to be run: what follows it is its own, also a `--json` or `--help`. */
function separated(words: readonly string[]): string[] {
  let at = 0;
  while (at < words.length && words[at] !== '--' && words[at]?.startsWith('-'))
    at += EXEC_VALUES.has(words[at] ?? '') ? 2 : 1;
  return at >= words.length || words[at] === '--'
    ? [...words]
    : [...words.slice(0, at), '--', ...words.slice(at)];
}

const TOPICS: Readonly<Record<string, string>> = {
  ...{
    env: 'envelopes',
    envs: 'envelopes',
    envelope: 'envelopes',
    template: 'templates',
    profile: 'profiles',
  },
  ...{ event: 'events', webhook: 'events', webhooks: 'events', document: 'documents', docs: 'documents' },
};

/** What people try, and what it is here. Each of them reads: none may lead to a command that mails. */
const TRIED: Readonly<Record<string, string>> = {
  list: 'envelopes list',
  ls: 'envelopes list',
  find: 'find TEXT',
  search: 'find TEXT',
  get: 'envelopes get ID',
  show: 'envelopes get ID',
  view: 'envelopes get ID',
  read: 'envelopes get ID',
  seen: 'envelopes get ID',
  status: 'envelopes summary',
  stats: 'envelopes summary',
  login: 'profiles add NAME --base-url URL',
  whoami: 'profiles show',
  completion: 'autocomplete',
};

/** The command that was most likely meant by words that name none. One that mails or deletes only for a slip of the finger. */
export function commandMeant(words: string, names: readonly string[]): string | undefined {
  const [first = '', ...rest] = words.split(' ');
  const parts = [entryOf(TOPICS, first) ?? first, ...rest];
  if (names.includes(parts.join(' '))) return parts.join(' ');
  const isNone = !names.includes(parts.slice(0, 2).join(' '));
  const tried = entryOf(TRIED, (parts[0] === 'envelopes' ? parts[1] : first) ?? '');
  if (tried !== undefined && isNone) return tried;
  // `envelopes get x y` is routed as one long command name when an argument is not expected.
  for (let length = parts.length; length > 0; length--) {
    const typed = parts.slice(0, length).join(' ');
    const meant = nearest(
      typed,
      names.filter((name) => isHarmless(name) || isSlip(typed, name)),
    );
    if (meant !== undefined) return meant;
  }
  return undefined;
}

function isHarmless(name: string): boolean {
  const effect = COMMAND_EFFECTS[name.replaceAll(' ', ':')];
  return effect === 'reads' || effect === 'local';
}

/** One key wrong, or two in the wrong order. */
function isSlip(typed: string, name: string): boolean {
  const letters = (text: string) => [...text].sort().join('');
  return distance(typed, name) <= 1 || letters(typed) === letters(name);
}
