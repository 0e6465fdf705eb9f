import { isTypo } from '../../kernel/text/nearest.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { MEANINGS, type Meaning } from './newcomer-words.ts';

/** The commands by their words, each with its arguments. */
export type KnownCommands = ReadonlyMap<string, { args: object }>;

/** Documents that people want to send, which only templates can. */
const DOCUMENT = /\.(pdf|docx?|odt)$/i;

/**
 * Returns the hint for words that are not a command: the command that does what they mean, what to do instead, or the commands of the
 * topic. Spelling counts only for typos, because a similar word often has another effect.
 */
export function hintForUnknown(argv: readonly string[], commands: KnownCommands): string {
  const [first = '', second = ''] = argv;
  const isTopic = isTopicOf(commands, first);
  const help = isTopic ? `See \`${command(first, '--help')}\`.` : 'See `esign --help`.';
  const given = argv.slice(1).filter((word) => !word.startsWith('-'));
  if (['send', 'create', 'new', 'upload', 'envelopes'].includes(first) && given.some(isDocument))
    return MEANINGS.get('upload')?.advice ?? help;
  const found = meaningOf(first, second, commands);
  if (found === undefined) return isTopic ? `${commandsOf(first, commands)} ${help}` : help;
  const { meaning, replaces } = found;
  if (meaning.advice !== undefined) return meaning.advice;
  return `Did you mean \`${withArguments(meaning, argv.slice(replaces), commands)}\`? ${help}`;
}

function isDocument(word: string): boolean {
  return DOCUMENT.test(word);
}

interface FoundMeaning {
  meaning: Meaning;
  /** The number of typed words that it replaces. */
  replaces: number;
}

function meaningOf(first: string, second: string, commands: KnownCommands): FoundMeaning | undefined {
  const both =
    MEANINGS.get(`${first} ${second}`) ?? MEANINGS.get(`${first}s ${second}`) ?? meaningAfter(first, second);
  if (both !== undefined) return { meaning: both, replaces: 2 };
  // The verb may precede its noun: `create envelope`, `cancel envelopes env_1`.
  const noun = [second, `${second}s`].find((word) => isTopicOf(commands, word));
  if (noun !== undefined) {
    const swapped = commands.has(`${noun} ${first}`)
      ? { command: `${noun} ${first}` }
      : (MEANINGS.get(`${noun} ${first}`) ?? meaningAfter(noun, first));
    if (swapped !== undefined) return { meaning: swapped, replaces: 2 };
  }
  const alone = isTopicOf(commands, first) ? undefined : MEANINGS.get(first);
  if (alone !== undefined) return { meaning: alone, replaces: 1 };
  return typoOf(first, second, commands);
}

function meaningAfter(topic: string, word: string): Meaning | undefined {
  return topic === 'envelopes' ? MEANINGS.get(word) : undefined;
}

/** The shortest beginning of a word that is understood. */
const MIN_PREFIX = 4;

/** Returns the command or topic with the same words, except for a typo in each or a missing end. */
function typoOf(first: string, second: string, commands: KnownCommands): FoundMeaning | undefined {
  const isMeant = (typed: string, known: string) =>
    typed === known || isTypo(typed, known) || (typed.length >= MIN_PREFIX && known.startsWith(typed));
  for (const name of commands.keys()) {
    const [topic = '', verb] = name.split(' ');
    if (!isMeant(first, topic)) continue;
    if (verb === undefined) return { meaning: { command: name }, replaces: 1 };
    if (second === '' || second.startsWith('-')) return { meaning: { command: topic }, replaces: 1 };
    if (isMeant(second, verb)) return { meaning: { command: name }, replaces: 2 };
  }
  return undefined;
}

function isTopicOf(commands: KnownCommands, word: string): boolean {
  return [...commands.keys()].some((name) => name.startsWith(`${word} `));
}

function commandsOf(topic: string, commands: KnownCommands): string {
  const verbs = [...commands.keys()].flatMap((name) => {
    const [first, verb] = name.split(' ');
    return first === topic && verb !== undefined ? [verb] : [];
  });
  return `Commands: ${verbs.sort().join(', ')}.`;
}

/** Returns the command with the given arguments in place of its placeholder, if it takes any. */
function withArguments(
  { command: target = '', alone = target }: Meaning,
  given: readonly string[],
  commands: KnownCommands,
): string {
  const hasArguments = given.some((word) => !word.startsWith('-'));
  const words = (hasArguments ? target : alone).split(' ');
  const at = words.findIndex((word) => /^[A-Z]+$/.test(word));
  const isKnown = (name: string) => Object.keys(commands.get(name)?.args ?? {}).length > 0;
  const takesArguments = at >= 0 || [1, 2].some((length) => isKnown(words.slice(0, length).join(' ')));
  const firstFlag = given.findIndex((word) => word.startsWith('-'));
  const kept = takesArguments ? given : firstFlag < 0 ? [] : given.slice(firstFlag);
  if (!hasArguments || at < 0) return command(...words, ...kept);
  return command(...words.slice(0, at), ...kept, ...words.slice(at + 1));
}
