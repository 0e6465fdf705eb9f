import { takeFirst } from '../../kernel/streams.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import type { Context } from '../context.ts';

interface LimitFlags {
  limit: number;
  all: boolean;
}

/** What --limit and --all mean for a list. */
export const limited = {
  /** The first items, with a notice on stderr when more exist; all of them with --all. */
  take<T>(items: AsyncIterable<T>, flags: LimitFlags, context: Context): AsyncIterable<T> {
    if (flags.all) return items;
    return takeFirst(items, flags.limit, () => {
      context.notice(
        `Showing the first ${flags.limit}; there are more. Use --all, or -L for another number.`,
      );
    });
  },

  /** A page just large enough to see whether there is more; whole pages when items are filtered here. */
  pageSize(flags: LimitFlags, unfiltered: boolean): number {
    return flags.all || !unfiltered ? LIMITS.pageSize : Math.min(LIMITS.pageSize, flags.limit + 1);
  },
};
