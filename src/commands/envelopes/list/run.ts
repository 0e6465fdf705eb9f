import type { Envelope } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { limited } from '../../../cli/input/limit.ts';
import { reportOf } from '../../../cli/report.ts';
import { type Selected, select } from '../../../cli/selection/select.ts';
import { isUnfiltered, type Selection, sortedBy, withSigners } from '../../../envelopes/select.ts';
import { isNotFound, UsageError } from '../../../kernel/errors.ts';
import { FieldCheck } from '../../../output/fields.ts';
import { type ListFormat, writeList } from '../../../output/list.ts';
import { envelopeList } from './view.ts';

/** The flags for the limit and the order. */
export interface ListedFlags {
  limit?: number | undefined;
  all: boolean;
  sort?: string | undefined;
}

export interface ListFlags extends ListFormat, ListedFlags {}

/** `envelopes list`: prints the matching envelopes, with the given order, limit, and format. */
export async function listEnvelopes(selection: Selection, flags: ListFlags, context: Context): Promise<void> {
  const found = await listed(selection, flags, context);
  const sorted = flags.sort === undefined ? found.envelopes : sorting(found.envelopes, flags.sort);
  const taken = limited.take(sorted, flags, context, found.total);
  const needsSigners = !flags.quiet && !context.terminal.json && (flags.fields?.includes('signers') ?? true);
  const shown = needsSigners
    ? withSigners(await context.session.client(), taken, context.interrupt.signal)
    : taken;
  const { templateId } = selection;
  await writeList<Envelope>(
    templateId === undefined || context.terminal.json ? shown : withEmptyNotice(shown, templateId, context),
    envelopeList(() => context.session.now(), selection),
    flags,
    context.terminal.hidingSecrets(),
  );
  if (found.hasMore()) limited.notice(flags, context, found.total());
}

/** Yields all of them; if none exist, prints a notice for a template that doesn't exist. */
async function* withEmptyNotice<T>(
  items: AsyncIterable<T>,
  templateId: string,
  context: Context,
): AsyncGenerator<T, void, undefined> {
  let isEmpty = true;
  for await (const item of items) {
    isEmpty = false;
    yield item;
  }
  if (isEmpty) await noticeMissing(templateId, context);
}

/** Prints a notice with a suggestion if the template doesn't exist. Other errors are ignored. */
async function noticeMissing(templateId: string, context: Context): Promise<void> {
  try {
    await (await context.session.client()).templates.get(templateId, context.interrupt.signal);
  } catch (error) {
    context.interrupt.signal.throwIfAborted();
    if (!isNotFound(error)) return;
    const { message, hint } = reportOf(error);
    context.terminal.notice(`${message}. ${hint ?? ''}`);
  }
}

/** Selects the envelopes of a list: no more than the limit, unless they have to be sorted. */
export function listed(selection: Selection, flags: ListedFlags, context: Context): Promise<Selected> {
  const isSorted = flags.sort !== undefined;
  const options = {
    limit: isSorted ? undefined : limited.maxItems(flags),
    pageSize: limited.pageSize(flags, isUnfiltered(selection) && !isSorted),
  };
  return select(selection, options, context);
}

/**
 * Sorts them by a field.
 * @throws UsageError if none of them has it.
 */
async function* sorting(
  envelopes: AsyncIterable<Envelope>,
  field: string,
): AsyncGenerator<Envelope, void, undefined> {
  const check = new FieldCheck([field.replace(/^-/, '')]);
  const all: Envelope[] = [];
  for await (const one of envelopes) {
    check.see(one);
    all.push(one);
  }
  const missing = check.notice();
  if (missing !== undefined)
    throw new UsageError(`Can't sort by "${field}". ${missing}`, {
      hint: 'Sort by one field, such as `--sort createdAt`.',
    });
  yield* sortedBy(all, field);
}
