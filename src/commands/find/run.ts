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

/** `find`: every envelope in which each of the words begins one, told in words on a terminal. */
export async function findEnvelopes(
  given: readonly string[],
  flags: FindFlags,
  context: Context,
): Promise<void> {
  const selection = { ...(await selectionOf(flags, context)), ...soughtBy(given.join(' '), flags.status) };
  const limit = limited.most(flags);
  const answer = await searchEnvelopes(
    selection,
    { limit, cached: flags.cached, oneSignerFirst: isTold(flags, context.terminal) },
    context,
  );
  let count = 0;
  async function* counted() {
    for await (const one of answer.envelopes) {
      count++;
      yield one;
    }
  }
  const { empty, ...view } = envelopeList(() => context.session.now(), selection);
  if (isTold(flags, context.terminal)) await tell(counted(), answer, selection, context);
  else await writeList(counted(), view, flags, context.terminal.hidingSecrets());
  if (flags.cached) context.terminal.notice(ageOf(answer));
  // Also to a program: an empty list may mean that the words were wrong.
  if (count === 0 && !flags.quiet) context.terminal.notice(empty ?? '');
  if (answer.hasMore()) limited.notice(flags, context, answer.total());
}

/** What fits these words. @throws UsageError when there are none. */
export function soughtBy(search: string, statuses: readonly string[] | undefined): Selection {
  if (wordsOf(search).length > 0) return { search, statuses };
  throw new UsageError('There is nothing to look for.', {
    hint: 'Give a name, an address, a subject or a number: `esign find lukasz`.',
  });
}

/** In words to a person at a terminal; whoever asks for columns, ids or JSON gets those. */
function isTold({ csv, quiet, fields }: FindFlags, terminal: CommandTerminal): boolean {
  return terminal.outIsTty && !terminal.json && !csv && !quiet && fields === undefined;
}

async function tell(
  envelopes: AsyncIterable<Envelope>,
  answer: IndexResult,
  selection: Selection,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const found: Envelope[] = [];
  for await (const one of envelopes) found.push(one);
  const [only] = found;
  const successors = await successorsOf(found, context);
  if (only !== undefined && found.length === 1 && !answer.hasMore())
    return terminal.out(renderEnvelope(only, terminal, context.session.now(), successors.get(only.id)));
  await terminal.out(renderHits(found, { selection, successors }, terminal, context.session.now()));
}

/** Those that were made in the place of these: of them, or as this machine remembers it. */
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
    return 'Only what was read in passing is known here yet. Without --cached every envelope is looked at.';
  const age = Math.max(0, Date.now() - knownAt);
  return `As it was known ${durationInWords(age)} ago, or when it was last read since. Leave out --cached to ask the service.`;
}
