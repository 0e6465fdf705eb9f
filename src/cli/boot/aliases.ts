import { ownValue } from '../../kernel/json.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import type { Installation } from './installation.ts';

/** Commands by the words that people try first. Those that send anything are only suggested (newcomer-words.ts). */
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
const VERBS: Readonly<Record<string, string>> = { ls: 'list', show: 'get', get: 'show' };

/** Replaces aliases such as `help WORDS`, `envelopes ls`, and `templates show` with the actual commands. */
export function resolveAliases(
  argv: readonly string[],
  { commands }: Pick<Installation, 'commands'>,
): string[] {
  const [first = '', second = '', ...rest] = argv;
  if (first === 'sandbox' && second === 'exec') return [first, second, ...separated(rest)];
  if (first === 'help') return [...resolveAliases(argv.slice(1), { commands }), '--help'];
  const listed = readNoun(first, second, commands);
  if (listed !== undefined) return [...listed, ...rest];
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

/** Returns the command for a verb before its noun: `list templates`, `show profile acme`. */
function readNoun(
  verb: string,
  noun: string,
  commands: Installation['commands'],
): [topic: string, verb: string] | undefined {
  if (!['list', 'ls', 'get', 'show'].includes(verb)) return undefined;
  const topic = [noun, `${noun}s`].find((word) => noun !== '' && isTopic(word, commands));
  const ours = [verb, VERBS[verb] ?? verb].find((one) => Object.hasOwn(commands, `${topic} ${one}`));
  return topic === undefined || ours === undefined ? undefined : [topic, ours];
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
