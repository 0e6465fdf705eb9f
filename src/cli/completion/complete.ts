import { METHODS } from '../../api/raw.ts';
import { ownValue } from '../../kernel/json.ts';
import {
  canBeCanceled,
  canBeReminded,
  canBeSent,
  ENVELOPE_STATUSES,
  isInFlight,
} from '../../kernel/statuses.ts';
import { DOCUMENT_KINDS, EVENTS } from '../../kernel/vocabulary.ts';
import type { CommandTree, FlagFacts } from './command-tree.ts';
import { type CompletionLine, findFlag, parseTypedLine } from './line.ts';
import type { Recent, RecentKind } from './recent.ts';

/** A candidate for the word at the cursor. */
export interface CompletionCandidate {
  value: string;
  description: string;
}

/** The candidates at the cursor, and whether files or folders are also valid. */
export interface Completion {
  candidates: CompletionCandidate[];
  paths: 'none' | 'files' | 'dirs';
}

/** Functions that look up variable values. They are called only when needed. */
export interface CompletionSources {
  profiles(): CompletionCandidate[];
  recent(kind: RecentKind, line: CompletionLine): Recent[];
}

const NOTHING: Completion = { candidates: [], paths: 'none' };
const FILES: Completion = { candidates: [], paths: 'files' };
const FOLDERS: Completion = { candidates: [], paths: 'dirs' };

const LISTS: Readonly<Record<string, readonly string[]>> = {
  status: ENVELOPE_STATUSES,
  until: ENVELOPE_STATUSES,
  what: DOCUMENT_KINDS,
  events: EVENTS,
};
const ROUTES = ['/esign/templates', '/esign/envelopes'];

/** Returns the candidates at the cursor that begin with the existing text. */
export function complete(
  tree: CommandTree,
  words: readonly string[],
  current: string,
  lookup: CompletionSources,
): Completion {
  const line = parseTypedLine(tree, words);
  const { candidates, paths } = atCursor(tree, line, current, lookup);
  return { candidates: candidates.filter(({ value }) => value.startsWith(current)), paths };
}

function atCursor(
  tree: CommandTree,
  line: CompletionLine,
  current: string,
  lookup: CompletionSources,
): Completion {
  if (line.pending) return flagValues(line.pending, line, current, lookup);
  if (!line.flagsEnded && current.startsWith('-')) {
    const [, name, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? [];
    const flag = name === undefined ? undefined : findFlag(line, name);
    if (flag === undefined || value === undefined) return { candidates: flagNames(line), paths: 'none' };
    const found = flagValues(flag, line, value, lookup);
    return { ...found, candidates: withPrefix(`--${flag.name}=`, found.candidates) };
  }
  if (line.command === undefined) return { candidates: nextWords(tree, line), paths: 'none' };
  return argValues(line, lookup);
}

/** Returns the topics and commands one level down. */
function nextWords(tree: CommandTree, line: CompletionLine): CompletionCandidate[] {
  // Nothing can be completed after an unknown word.
  if (line.args.length > 0) return [];
  const before = line.path === '' ? '' : `${line.path}:`;
  const found = new Map<string, string>();
  for (const [id, command] of Object.entries(tree.commands)) {
    if (command.hidden || !id.startsWith(before)) continue;
    const [word = '', ...deeper] = id.slice(before.length).split(':');
    const about = deeper.length > 0 ? (tree.topics[`${before}${word}`] ?? '') : (command.summary ?? '');
    if (word !== '') found.set(word, found.get(word) ?? about);
  }
  return [...found].map(([value, description]) => ({ value, description }));
}

function flagNames(line: CompletionLine): CompletionCandidate[] {
  const flags = Object.values(line.command?.flags ?? {}).filter(
    (flag) => !flag.hidden && (flag.multiple || !line.flags.has(flag.name)),
  );
  const names = flags.flatMap((flag) => {
    const description = flag.description ?? '';
    const positive = { value: `--${flag.name}`, description };
    return flag.allowNo ? [positive, { value: `--no-${flag.name}`, description }] : [positive];
  });
  return [...names, { value: '--help', description: 'show help' }];
}

function flagValues(
  flag: FlagFacts,
  line: CompletionLine,
  current: string,
  lookup: CompletionSources,
): Completion {
  const list = ownValue(LISTS, flag.name);
  if (list) return { candidates: listItems(list, current), paths: 'none' };
  if (flag.options) return completeWords(flag.options);
  if (flag.name === 'profile') return { candidates: lookup.profiles(), paths: 'none' };
  if (flag.name === 'template') return completeRecents('templates', line, lookup);
  if (flag.name === 'envelope') return completeRecents('envelopes', line, lookup);
  if (flag.helpValue?.includes('FILE')) return FILES;
  return flag.helpValue?.includes('DIR') ? FOLDERS : NOTHING;
}

/** Returns the candidates for the next item of a comma-separated list, without items that are already in it. */
function listItems(known: readonly string[], current: string): CompletionCandidate[] {
  const given = current.split(',').slice(0, -1);
  const before = given.map((item) => `${item},`).join('');
  const left = known.filter((item) => !given.some((one) => one.toUpperCase() === item.toUpperCase()));
  return withPrefix(
    before,
    left.map((value) => ({ value, description: '' })),
  );
}

function argValues(line: CompletionLine, lookup: CompletionSources): Completion {
  const declared = Object.values(line.command?.args ?? {});
  const arg = declared[line.args.length] ?? (line.command?.strict === false ? declared.at(-1) : undefined);
  if (arg === undefined) return NOTHING;
  if (arg.options) return completeWords(arg.options);
  if (line.path === 'api') return completeWords(line.args.length === 0 ? [...METHODS, ...ROUTES] : ROUTES);
  return namedValues(line, arg.name, lookup);
}

/** Returns the values that an argument accepts, by its topic and name. */
function namedValues(line: CompletionLine, name: string, lookup: CompletionSources): Completion {
  const [topic = ''] = line.path.split(':');
  if (topic === 'profiles' && line.path !== 'profiles:add')
    return { candidates: lookup.profiles(), paths: 'none' };
  if (topic === 'templates') return completeRecents('templates', line, lookup);
  if (topic === 'envelopes' || name === 'envelope') return completeRecents('envelopes', line, lookup);
  if (name.includes('file')) return FILES;
  return name.includes('dir') ? FOLDERS : NOTHING;
}

/** Statuses in which a command is applicable. The cache may be slightly outdated. */
const FITTING: Readonly<Record<string, (status: string) => boolean>> = {
  'envelopes:send': canBeSent,
  'envelopes:remind': canBeReminded,
  'envelopes:cancel': (status) => canBeCanceled(status, false),
  'sandbox:sign': isInFlight,
};

function completeRecents(kind: RecentKind, line: CompletionLine, lookup: CompletionSources): Completion {
  const fits = kind === 'envelopes' ? ownValue(FITTING, line.path) : undefined;
  const found = lookup
    .recent(kind, line)
    .filter(({ id, status }) => !line.args.includes(id) && (!fits || status === undefined || fits(status)));
  const candidates = found.map(({ id, label, status }) => ({
    value: id,
    description: [status, label].filter(Boolean).join(' · '),
  }));
  return { candidates, paths: 'none' };
}

function completeWords(values: readonly string[]): Completion {
  return { candidates: values.map((value) => ({ value, description: '' })), paths: 'none' };
}

function withPrefix(before: string, candidates: readonly CompletionCandidate[]): CompletionCandidate[] {
  return candidates.map(({ value, description }) => ({ value: `${before}${value}`, description }));
}
