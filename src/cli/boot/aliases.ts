import { distance } from 'fastest-levenshtein';
import { entryOf } from '../../kernel/json.ts';
import { nearest } from '../../kernel/text/nearest.ts';
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
  const isOurs = (verb: string) => Object.hasOwn(commands, `${topic} ${verb}`);
  if (ours !== undefined && !isOurs(second) && isOurs(ours)) return [topic, ours, ...rest];
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

const TOPICS: Readonly<Record<string, string>> = {
  ...{
    env: 'envelopes',
    envs: 'envelopes',
    envelope: 'envelopes',
    contract: 'envelopes',
    contracts: 'envelopes',
  },
  ...{
    template: 'templates',
    profile: 'profiles',
    event: 'events',
    document: 'documents',
    docs: 'documents',
  },
};

/** Words that users try, and the command they mean. A verb for reading never leads to a command that emails. */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ list: 'envelopes list', ls: 'envelopes list', all: 'envelopes list' },
  ...{ find: 'find TEXT', search: 'find TEXT' },
  ...{
    get: 'envelopes get ID',
    show: 'envelopes get ID',
    view: 'envelopes get ID',
    read: 'envelopes get ID',
  },
  ...{
    see: 'envelopes get ID',
    look: 'envelopes get ID',
    cat: 'envelopes get ID',
    check: 'envelopes get ID',
  },
  ...{
    seen: 'envelopes get ID',
    open: 'envelopes get ID',
    info: 'envelopes get ID',
    describe: 'envelopes get ID',
  },
  ...{ history: 'envelopes get ID --history', log: 'envelopes get ID --history' },
  ...{
    status: 'envelopes summary',
    stats: 'envelopes summary',
    stat: 'envelopes summary',
    summary: 'envelopes summary',
  },
  ...{ wait: 'envelopes watch ID', watch: 'envelopes watch ID' },
  ...{ download: 'envelopes download ID', pull: 'envelopes download ID', pdf: 'envelopes download ID' },
  evidence: 'envelopes evidence ID --dir DIR',
  ...{
    new: 'envelopes create',
    add: 'envelopes create',
    create: 'envelopes create',
    make: 'envelopes create',
  },
  send: 'envelopes create --send',
  ...{ edit: 'envelopes replace ID', update: 'envelopes replace ID', fix: 'envelopes replace ID' },
  ...{ correct: 'envelopes replace ID', change: 'envelopes replace ID', replace: 'envelopes replace ID' },
  ...{ remind: 'envelopes remind ID', resend: 'envelopes remind ID', nudge: 'envelopes remind ID' },
  ...{ cancel: 'envelopes cancel ID', void: 'envelopes cancel ID', delete: 'envelopes cancel ID' },
  ...{ remove: 'envelopes cancel ID', rm: 'envelopes cancel ID', revoke: 'envelopes cancel ID' },
  sign: 'sandbox sign ID',
  ...{ webhook: 'listen', webhooks: 'listen', tunnel: 'listen' },
  ...{ login: 'profiles add NAME --base-url URL', logout: 'profiles remove NAME', auth: 'profiles list' },
  ...{ whoami: 'profiles show', config: 'profiles show', init: 'profiles add NAME --base-url URL' },
  ...{ completion: 'autocomplete', completions: 'autocomplete' },
};

/** The same for words after a topic other than `envelopes`. Used if no command of the topic matches. */
const TOPIC_ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  auth: {
    login: 'profiles add NAME --base-url URL',
    logout: 'profiles remove NAME',
    status: 'profiles show',
  },
  bulk: {
    ...{
      send: 'bulk create FILE --send',
      import: 'bulk create FILE',
      new: 'bulk create FILE',
      run: 'bulk create FILE',
    },
    ...{
      retry: 'bulk resume RUN',
      continue: 'bulk resume RUN',
      get: 'bulk show RUN',
    },
    ...{ ls: 'bulk list', download: 'bulk export RUN', results: 'bulk export RUN' },
  },
  documents: {
    get: 'documents download KEY',
    ls: 'envelopes list --status COMPLETED',
    list: 'envelopes list --status COMPLETED',
  },
  events: {
    listen: 'listen',
    send: 'events trigger EVENT --to URL',
    resend: 'events replay ID --to URL',
    ls: 'events list',
  },
  profiles: {
    new: 'profiles add NAME --base-url URL',
    delete: 'profiles remove NAME',
    update: 'profiles edit NAME',
  },
  sandbox: { status: 'doctor', mail: 'sandbox mails', clear: 'sandbox reset', run: 'sandbox start' },
  templates: { find: 'templates list --search TEXT', search: 'templates list --search TEXT' },
  webhooks: {
    replay: 'events replay ID --to URL',
    list: 'events list',
    trigger: 'events trigger EVENT --to URL',
  },
};

/** Returns the command that unknown words most likely mean. Returns undefined rather than guess wrong. */
export function suggestCommand(words: string, names: readonly string[]): string | undefined {
  const [first = '', ...rest] = words.split(' ');
  const parts = [entryOf(TOPICS, first) ?? first, ...rest];
  const [topic = '', verb] = parts;
  // `envelopes get x y` is treated as one long command name if an argument is not expected.
  for (let length = Math.min(2, parts.length); length > 0; length--) {
    const name = parts.slice(0, length).join(' ');
    if (names.includes(name)) return name;
  }
  const alias = aliasFor(topic, verb);
  if (alias !== undefined) return alias;
  if (verb === undefined) return findMisspelled(topic, names);
  const topics = [
    ...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
  ];
  const near = topics.includes(topic) ? undefined : topics.find((name) => distance(topic, name) <= MAX_EDITS);
  if (near !== undefined && near.length > 2 * MAX_EDITS)
    return suggestCommand([near, ...rest].join(' '), names);
  return findMisspelled(`${topic} ${verb}`, names) ?? findMisspelled(topic, names);
}

function aliasFor(topic: string, verb: string | undefined): string | undefined {
  if (topic === 'envelopes') return verb === undefined ? undefined : entryOf(ALIASES, verb);
  const ofTopic = entryOf(TOPIC_ALIASES, topic);
  return (verb === undefined ? undefined : ofTopic && entryOf(ofTopic, verb)) ?? entryOf(ALIASES, topic);
}

/** Returns the command that differs by one or two typos, or by only one if it emails or deletes. */
function findMisspelled(typed: string, names: readonly string[]): string | undefined {
  const isNear = (name: string) =>
    isHarmless(name) ? distance(typed, name) <= MAX_EDITS : isMisspelling(typed, name);
  // In a short word, two different letters usually mean a different word.
  const candidates = names.filter(
    (name) => isNear(name) && (isMisspelling(typed, name) || shortestPart(name) > 2 * MAX_EDITS),
  );
  return nearest(typed, candidates);
}

const MAX_EDITS = 2;

function shortestPart(name: string): number {
  return Math.min(...name.split(' ').map((part) => part.length));
}

function isHarmless(name: string): boolean {
  const effect = COMMAND_EFFECTS[name.replaceAll(' ', ':')];
  return effect === 'reads' || effect === 'local';
}

/** Returns true for one wrong letter or two swapped letters. */
function isMisspelling(typed: string, name: string): boolean {
  const letters = (text: string) => [...text].sort().join('');
  return distance(typed, name) <= 1 || letters(typed) === letters(name);
}
