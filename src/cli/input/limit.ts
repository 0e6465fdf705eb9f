import { grouped } from '../../kernel/duration.ts';
import { takeFirst } from '../../kernel/streams.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import type { Context } from '../context.ts';

interface LimitFlags {
  limit?: number | undefined;
  all: boolean;
  quiet?: boolean | undefined;
}

const DEFAULT_LIMIT = 20;

/** What --limit and --all mean for a list. */
export const limited = {
  /**
   * The first items; all of them with --all. When there are more, a notice says so on stderr: not to whoever chose the
   * number, and not to programs that read ids or JSON. `total`: how many there are, where that is known by then.
   */
  take<T>(
    items: AsyncIterable<T>,
    flags: LimitFlags,
    context: Context,
    total: () => number | undefined = () => undefined,
  ): AsyncIterable<T> {
    if (flags.all) return items;
    const limit = flags.limit ?? DEFAULT_LIMIT;
    const isChosen = flags.limit !== undefined;
    return takeFirst(items, limit, () => {
      if (isChosen || flags.quiet || context.json) return;
      const all = total();
      const shown = all === undefined ? `the first ${limit}; there are more` : `${limit} of ${grouped(all)}`;
      context.notice(`Showing ${shown}. Use --all, or -L for another number.`);
    });
  },

  /** A page just large enough to see whether there is more; whole pages when items are filtered here. */
  pageSize(flags: LimitFlags, unfiltered: boolean): number {
    if (flags.all || !unfiltered) return LIMITS.pageSize;
    return Math.min(LIMITS.pageSize, (flags.limit ?? DEFAULT_LIMIT) + 1);
  },
};
