import type { Envelope } from '../../api/schemas.ts';
import { type IndexResult, queryIndex } from '../../envelope-index/query.ts';
import { type Selection, selectEnvelopes, sortedBy } from '../../envelopes/select.ts';
import type { Context } from '../context.ts';
import { indexOrService } from './index-or-service.ts';

interface SearchOptions {
  limit?: number | undefined;
  cached?: boolean | undefined;
  oneSignerFirst?: boolean | undefined;
}

/**
 * The envelopes that fit, the newest first: from the index and what is newer than it, or, where none is kept, from the
 * service alone.
 */
export async function searchEnvelopes(
  selection: Selection,
  options: SearchOptions,
  context: Context,
): Promise<IndexResult> {
  return indexOrService(
    {
      index: (index, running) => queryIndex(index, selection, { ...options, ...running }),
      service: () => fromService(selection, context),
    },
    context,
  );
}

/** Without an index, everything is read before anything is shown. */
async function fromService(selection: Selection, context: Context): Promise<IndexResult> {
  const found: Envelope[] = [];
  const { signal } = context.interrupt;
  for await (const one of selectEnvelopes(await context.session.client(), selection, { signal }))
    found.push(one);
  async function* envelopes() {
    yield* sortedBy(found, '-createdAt');
    await Promise.resolve();
  }
  return { envelopes: envelopes(), total: () => found.length, hasMore: () => false, knownAt: Date.now() };
}
