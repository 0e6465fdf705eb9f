import type { Envelope } from '../../api/schemas.ts';
import { type Answer, answerFrom } from '../../envelope-index/answer.ts';
import { IndexUnusable } from '../../envelope-index/envelope-index.ts';
import { type Selection, selectEnvelopes, sortedBy } from '../../envelopes/select.ts';
import type { Context } from '../context.ts';
import { IndexProgressLine } from './index-progress.ts';

interface SearchOptions {
  limit?: number | undefined;
  cached?: boolean | undefined;
}

/**
 * The envelopes that fit, the newest first: from the index and what is newer than it, or, where none is kept, from the
 * service alone.
 */
export async function searchEnvelopes(
  selection: Selection,
  options: SearchOptions,
  context: Context,
): Promise<Answer> {
  const index = await context.index();
  if (index === undefined) return fromService(selection, context);
  const line = new IndexProgressLine(context);
  try {
    return await answerFrom(index, selection, {
      ...options,
      now: () => context.now(),
      signal: context.signal,
      onProgress: (progress) => line.show(progress),
    });
  } catch (error) {
    if (!(error instanceof IndexUnusable)) throw error;
    await line.stop();
    context.notice(`${error.message}; every envelope is read from the service.`);
    return await fromService(selection, context);
  } finally {
    await line.stop();
  }
}

/** Without an index all is read before anything can be told. */
async function fromService(selection: Selection, context: Context): Promise<Answer> {
  const found: Envelope[] = [];
  const { signal } = context;
  for await (const one of selectEnvelopes(await context.client(), selection, { signal })) found.push(one);
  async function* envelopes() {
    yield* sortedBy(found, '-createdAt');
    await Promise.resolve();
  }
  return { envelopes: envelopes(), total: () => found.length, hasMore: () => false, knownAt: Date.now() };
}
