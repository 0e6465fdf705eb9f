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
    const most = limited.most(flags);
    return most === undefined ? items : takeFirst(items, most, () => limited.notice(flags, context, total()));
  },

  /** So many at most; undefined for all of them. */
  most(flags: LimitFlags): number | undefined {
    return flags.all ? undefined : (flags.limit ?? DEFAULT_LIMIT);
  },

  /** Says that there are more than are shown. */
  notice(flags: LimitFlags, context: Context, total: number | undefined): void {
    if (flags.limit !== undefined || flags.quiet || context.terminal.json) return;
    const shown =
      total === undefined
        ? `the first ${DEFAULT_LIMIT}; there are more`
        : `${DEFAULT_LIMIT} of ${grouped(total)}`;
    context.terminal.notice(`Showing ${shown}. Use --all, or -L for another number.`);
  },

  /** A page just large enough to see whether there is more; whole pages when items are filtered here. */
  pageSize(flags: LimitFlags, unfiltered: boolean): number {
    if (flags.all || !unfiltered) return LIMITS.pageSize;
    return Math.min(LIMITS.pageSize, (flags.limit ?? DEFAULT_LIMIT) + 1);
  },
};
