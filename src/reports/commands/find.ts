import type { Envelope } from '../../api/resource-types.ts';
import { type SearchResult, storedEnvelopes } from '../../catalog/index/search-index.ts';
import { replacedBy } from '../../catalog/markers.ts';
import type { Selection } from '../../catalog/selection.ts';
import { spelledAsInEnvelopes } from '../../catalog/similar-words.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, exportListFlags, requiredArg } from '../../cli/flags.ts';
import { withLimit } from '../../cli/input/limit-flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import type { Context } from '../../cli/session/context.ts';
import { envelopeList, noMatchesText } from '../../envelopes/commands/envelope-table.ts';
import { renderEnvelope } from '../../envelopes/commands/envelope-text.ts';
import { lastReminderReader, successorOf } from '../../envelopes/commands/get-facts.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { isVoid } from '../../kernel/statuses.ts';
import { collectAll, mapEach } from '../../kernel/streams.ts';
import { wordsOf } from '../../kernel/text/search-words.ts';
import { isTableOutput, type ListFormat, writeList } from '../../output/print-list.ts';
import { searchEnvelopes } from '../../selection/select-envelopes.ts';
import {
  requireSearchText,
  type SelectionFlagValues,
  selectionFlags,
  selectionFromFlags,
} from '../../selection/selection-flags.ts';
import { renderHits } from './found-table.ts';

export default class Find extends EsignCommand {
  static override summary = 'Search envelopes by signer name, email address, subject, or metadata.';
  static override description =
    "Each word must match the beginning of a word in the ID, the subject, a signer's name or address, the template's name or ID, or a metadata value. Case and accents are ignored. Finished envelopes are cached on this machine, so only the first search reads all of them.";
  static override examples = [
    '<%= config.bin %> find lukasz',
    '<%= config.bin %> find rehor 1377',
    '<%= config.bin %> find lukasz@example.com --status open',
    '<%= config.bin %> find contract 1377 -q',
    '<%= config.bin %> find lukasz --run last',
  ];
  static override strict = false;
  static override args = {
    text: requiredArg('search terms; each matches the beginning of a word'),
  };
  static override flags = {
    ...exportListFlags,
    ...selectionFlags,
    cached: booleanFlag('search only the local index, without contacting the service'),
    refresh: booleanFlag('rebuild the local index first from the list of all envelopes', {
      exclusive: ['cached'],
    }),
  };

  async run(): Promise<void> {
    const { argv, flags, context, terminal } = await this.start(Find);
    const format = { ...flags, table: outputTable(flags, terminal) };
    const given = { ...flags, search: requireSearchText(argv.join(' ')) };
    const selection = await selectionFromFlags(given, context);
    // On a terminal, the envelopes are described in sentences.
    const isDescribed = isTableOutput(format, terminal);
    const fitsScreen = isDescribed && flags.limit === undefined && !flags.all;
    const { cached, refresh } = flags;
    const limit = fitsScreen ? MAX_DESCRIBED : withLimit.maxItems(flags);
    const hits = await searchEnvelopes(selection, { limit, cached, refresh, oneSignerFirst: true }, context);
    const printed = isDescribed
      ? await printFound(hits, { selection, fitsScreen, cached }, context)
      : await writeFound(hits, { selection, flags: given, format }, context);
    if (cached) terminal.notice(ageOf(hits));
    // Also printed with --json: an empty list may mean a misspelled word.
    if (printed.found === 0 && !flags.quiet)
      terminal.notice(noMatchesText(given, await similarSearch(given, context)));
    if (hits.hasMore() || printed.shown < printed.found)
      withLimit.notice(
        flags,
        context,
        hits.total(),
        isDescribed ? { shown: printed.shown, fewer: FEWER } : {},
      );
  }
}

const FEWER = 'Add a word, such as a first name or a company, to see fewer.';

/** Returns the command for a similar search that finds something, by the words of the local index. */
async function similarSearch(
  given: SelectionFlagValues & { search: string },
  context: Context,
): Promise<string | undefined> {
  const account = await context.session.indexedAccount(await context.session.client());
  if (account === undefined) return undefined;
  const words = await spelledAsInEnvelopes(wordsOf(given.search), storedEnvelopes(account));
  if (words === undefined) return undefined;
  const similar = { ...given, search: words.join(' ') };
  const selection = await selectionFromFlags(similar, context);
  const { envelopes } = await searchEnvelopes(selection, { limit: 1, cached: true }, context);
  return (await collectAll(envelopes)).length > 0 ? context.terminal.command('find', ...words) : undefined;
}

/** How many envelopes were found within the limit, and how many of them are printed. */
interface Printed {
  found: number;
  shown: number;
}

/** Writes the envelopes as a list. */
async function writeFound(
  { envelopes }: SearchResult,
  { selection, flags, format }: { selection: Selection; flags: SelectionFlagValues; format: ListFormat },
  { session, terminal }: Context,
): Promise<Printed> {
  let found = 0;
  const counting = mapEach(envelopes, (one) => {
    found++;
    return one;
  });
  const { empty: _, ...view } = envelopeList(() => session.now(), { selection, flags });
  await writeList(counting, view, format, terminal.hidingSecrets());
  return { found, shown: found };
}

/** How many envelopes, and how many lines that describe them, fit on a screen of 24 lines. */
const MAX_DESCRIBED = 10;
const MAX_LINES = 21;

interface Printing {
  selection: Selection;
  /** Prints no more than fits on the screen. */
  fitsScreen: boolean;
  cached: boolean;
}

/** Describes the envelopes in sentences. An only match is printed as `get` does. */
async function printFound(
  hits: SearchResult,
  { selection, fitsScreen, cached }: Printing,
  context: Context,
): Promise<Printed> {
  const { terminal } = context;
  const found = await collectAll(hits.envelopes);
  const now = context.session.now();
  const successors = await successorsOf(found, cached, context);
  const [only] = found;
  if (only !== undefined && found.length === 1 && !hits.hasMore()) {
    const facts = { successor: successors.get(only.id), reminder: await lastReminderReader(context)(only) };
    await terminal.out(renderEnvelope(only, terminal, now, facts));
    return { found: 1, shown: 1 };
  }
  const texts = renderHits(found, { selection, successors }, terminal, now);
  while (fitsScreen && texts.join('').split('\n').length > MAX_LINES) texts.pop();
  await terminal.out(texts.join(''));
  return { found: found.length, shown: texts.length };
}

/** Finds the replacements of these envelopes: among them, or unless only the index is used, in this machine's records. */
async function successorsOf(
  found: readonly Envelope[],
  cached: boolean,
  context: Context,
): Promise<ReadonlyMap<string, Envelope>> {
  const successors = new Map<string, Envelope>();
  for (const one of found) {
    const old = replacedBy(one);
    if (old !== undefined && !isVoid(one)) successors.set(old, one);
  }
  if (cached) return successors;
  const client = await context.session.client();
  for (const one of found.filter(({ id }) => !successors.has(id))) {
    const made = await successorOf(one, client, context);
    if (made) successors.set(one.id, made);
  }
  return successors;
}

function ageOf({ knownAt }: SearchResult): string {
  if (knownAt === undefined)
    return 'The local index is incomplete. To search all envelopes, leave out --cached.';
  const age = Math.max(0, Date.now() - knownAt);
  return `Results are up to ${durationInWords(age)} old. To query the service, leave out --cached.`;
}
