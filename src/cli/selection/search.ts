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

/** Finds the matching envelopes, newest first: in the index, which is updated first, or if it is disabled, in the service. */
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

/** Searches the service. Without an index, all envelopes must be read before the first is shown. */
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
