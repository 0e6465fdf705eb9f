import type { Envelope } from '../../api/schemas.ts';
import {
  isUnfiltered,
  type Selection,
  selectEnvelopes,
  sortedBy,
  withSigners,
} from '../../envelopes/select.ts';
import { FieldCheck } from '../../output/fields.ts';
import { type ListFormat, writeList } from '../../output/list.ts';
import type { Context } from '../context.ts';
import { limited } from '../input/limit.ts';
import { envelopeList } from './list-view.ts';

export interface ListFlags extends ListFormat {
  limit?: number | undefined;
  all: boolean;
  sort?: string | undefined;
}

/** `envelopes list`: those that fit, sorted if asked for, so many of them, in the wanted form. */
export async function listEnvelopes(selection: Selection, flags: ListFlags, context: Context): Promise<void> {
  const client = await context.client();
  const { signal } = context;
  let total: number | undefined;
  const found = selectEnvelopes(client, selection, {
    pageSize: limited.pageSize(flags, isUnfiltered(selection) && flags.sort === undefined),
    onTotal: (known) => {
      total = known;
    },
    signal,
  });
  const sorted = flags.sort === undefined ? found : sorting(found, flags.sort, context);
  const taken = limited.take(sorted, flags, context, () => total);
  const needsSigners = !flags.quiet && !context.json && (flags.fields?.includes('signers') ?? true);
  await writeList<Envelope>(
    needsSigners ? withSigners(client, taken, signal) : taken,
    envelopeList(() => context.now(), selection),
    flags,
    context.terminal,
  );
}

/** All of them in the order of a field; that none of them has it is said. */
async function* sorting(
  envelopes: AsyncIterable<Envelope>,
  field: string,
  context: Context,
): AsyncGenerator<Envelope, void, undefined> {
  const check = new FieldCheck([field.replace(/^-/, '')]);
  const all: Envelope[] = [];
  for await (const one of envelopes) {
    check.see(one);
    all.push(one);
  }
  const notice = check.notice();
  if (notice !== undefined) context.notice(notice);
  yield* sortedBy(all, field);
}
