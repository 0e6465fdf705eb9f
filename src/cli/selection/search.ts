import type { Envelope } from '../../api/schemas.ts';
import { IndexUnusable } from '../../envelope-index/envelope-index.ts';
import { type IndexResult, queryIndex } from '../../envelope-index/query.ts';
import { type Selection, selectEnvelopes, sortedBy } from '../../envelopes/select.ts';
import { diskReason, isDiskError } from '../../kernel/files/disk-reason.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { Context } from '../context.ts';
import { IndexProgressLine } from './index-progress.ts';

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
  const index = await context.session.index();
  if (index === undefined) return fromService(selection, context);
  const line = new IndexProgressLine(context);
  try {
    return await queryIndex(index, selection, {
      ...options,
      now: () => context.session.now(),
      signal: context.interrupt.signal,
      onProgress: (progress) => line.show(progress),
    });
  } catch (error) {
    const why = whyUnusable(error);
    if (why === undefined) throw error;
    await line.stop();
    context.terminal.notice(`${why}; every envelope is read from the service.`);
    return await fromService(selection, context);
  } finally {
    await line.stop();
  }
}

/** Why the index is of no use, where that is what went wrong: a disk that takes nothing is no reason not to answer. */
export function whyUnusable(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be kept in ${stateDir()} (${diskReason(error)})` : undefined;
}

/** Without an index all is read before anything can be told. */
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
