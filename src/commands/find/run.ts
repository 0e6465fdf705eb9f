import type { Envelope } from '../../api/schemas.ts';
import type { Context } from '../../cli/context.ts';
import { limited } from '../../cli/input/limit.ts';
import { type SelectionFlagValues, selectionOf } from '../../cli/selection/flags.ts';
import { searchEnvelopes } from '../../cli/selection/search.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import type { IndexResult } from '../../envelope-index/query.ts';
import { replacedBy } from '../../envelopes/replace/find.ts';
import type { Selection } from '../../envelopes/select.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { wordsOf } from '../../kernel/text/words.ts';
import { isVoid } from '../../kernel/vocabulary.ts';
import { type ListFormat, writeList } from '../../output/list.ts';
import { envelopeList } from '../envelopes/list/view.ts';
import { successorOf } from '../envelopes/replace/successor.ts';
import { renderEnvelope } from '../envelopes/view.ts';
import { renderHits } from './view.ts';

export interface FindFlags extends ListFormat, Omit<SelectionFlagValues, 'search'> {
  limit?: number | undefined;
  all: boolean;
  cached: boolean;
}

/** `find`: shows every envelope that matches all words. On a terminal, it describes them in sentences. */
export async function findEnvelopes(
  given: readonly string[],
  flags: FindFlags,
  context: Context,
): Promise<void> {
  const selection = { ...(await selectionOf(flags, context)), ...parseSearch(given.join(' '), flags.status) };
  const limit = limited.maxItems(flags);
  const hits = await searchEnvelopes(
    selection,
    { limit, cached: flags.cached, oneSignerFirst: showsSentences(flags, context.terminal) },
    context,
  );
  let count = 0;
  async function* counted() {
    for await (const one of hits.envelopes) {
      count++;
      yield one;
    }
  }
  const { empty, ...view } = envelopeList(() => context.session.now(), selection);
  if (showsSentences(flags, context.terminal)) await printFound(counted(), hits, selection, context);
  else await writeList(counted(), view, flags, context.terminal.hidingSecrets());
  if (flags.cached) context.terminal.notice(ageOf(hits));
  // Also printed with --json: an empty list may mean a misspelled word.
  if (count === 0 && !flags.quiet) context.terminal.notice(empty ?? '');
  if (hits.hasMore()) limited.notice(flags, context, hits.total());
}

/** Returns the selection for these words. @throws UsageError if the search has no words. */
export function parseSearch(search: string, statuses: readonly string[] | undefined): Selection {
  if (wordsOf(search).length > 0) return { search, statuses };
  throw new UsageError('The search is empty.', {
    hint: 'Enter a name, an address, a subject, or a number, such as `esign find lukasz`.',
  });
}

/** Returns true if the results are described in sentences: on a terminal, without a flag for another format. */
function showsSentences({ csv, quiet, fields }: FindFlags, terminal: CommandTerminal): boolean {
  return terminal.outIsTty && !terminal.json && !csv && !quiet && fields === undefined;
}

async function printFound(
  envelopes: AsyncIterable<Envelope>,
  hits: IndexResult,
  selection: Selection,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const found: Envelope[] = [];
  for await (const one of envelopes) found.push(one);
  const [only] = found;
  const successors = await successorsOf(found, context);
  if (only !== undefined && found.length === 1 && !hits.hasMore())
    return terminal.out(renderEnvelope(only, terminal, context.session.now(), successors.get(only.id)));
  await terminal.out(renderHits(found, { selection, successors }, terminal, context.session.now()));
}

/** Finds the replacements of these envelopes: among them, or in this machine's records. */
async function successorsOf(
  found: readonly Envelope[],
  context: Context,
): Promise<ReadonlyMap<string, Envelope>> {
  const successors = new Map<string, Envelope>();
  for (const one of found) {
    const old = replacedBy(one);
    if (old !== undefined && !isVoid(one)) successors.set(old, one);
  }
  const client = await context.session.client();
  for (const one of found.filter(({ id }) => !successors.has(id))) {
    const made = await successorOf(one, { client, looks: false }, context);
    if (made) successors.set(one.id, made);
  }
  return successors;
}

function ageOf({ knownAt }: IndexResult): string {
  if (knownAt === undefined)
    return 'The local index is incomplete. To search all envelopes, leave out --cached.';
  const age = Math.max(0, Date.now() - knownAt);
  return `Results are up to ${durationInWords(age)} old. To query the service, leave out --cached.`;
}
