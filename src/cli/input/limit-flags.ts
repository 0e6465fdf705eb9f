import { grouped } from '../../kernel/duration.ts';
import { takeFirst } from '../../kernel/streams.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import type { Context } from '../session/context.ts';
import { LIST_LIMIT } from './list-limit.ts';

export interface LimitFlags {
  limit?: number | undefined;
  all: boolean;
  quiet?: boolean | undefined;
  output?: string | undefined;
}

/** Applies --limit and --all. */
export const withLimit = {
  /**
   * Yields the first items, or all with --all. If there are more, prints a notice on stderr, unless the user set the limit or the
   * output is JSON or IDs only. `total` returns the number of all items if it is known by then.
   */
  take<T>(
    items: AsyncIterable<T>,
    flags: LimitFlags,
    context: Context,
    total: () => number | undefined = () => undefined,
  ): AsyncIterable<T> {
    const maxItems = withLimit.maxItems(flags);
    return maxItems === undefined
      ? items
      : takeFirst(items, maxItems, () => withLimit.notice(flags, context, total()));
  },

  /**
   * Returns the maximum number of items, or undefined for all. IDs are for another command, which needs all of them, and so does a
   * file, in which nobody sees that some are missing.
   */
  maxItems({ limit, all, quiet, output }: LimitFlags): number | undefined {
    const isWhole = quiet === true || output !== undefined;
    return all || (isWhole && limit === undefined) ? undefined : (limit ?? LIST_LIMIT);
  },

  /** Prints how much of a list is shown. `fewer`: how to see only what is meant. */
  notice(
    flags: LimitFlags,
    context: Context,
    total: number | undefined,
    { shown = LIST_LIMIT, fewer }: { shown?: number; fewer?: string } = {},
  ): void {
    if (flags.limit !== undefined || flags.quiet || context.terminal.json) return;
    const part = total === undefined ? `the first ${shown}; there are more` : `${shown} of ${grouped(total)}`;
    const advice = fewer === undefined ? '' : ` ${fewer}`;
    context.terminal.notice(`Showing ${part}.${advice} Use --all to show all of them, or -L N to show more.`);
  },

  /** Returns the page size: one more than the limit, to see whether there are more items; or a full page if items are filtered locally. */
  pageSize(flags: LimitFlags, unfiltered: boolean): number {
    const most = withLimit.maxItems(flags);
    return most === undefined || !unfiltered ? LIMITS.pageSize : Math.min(LIMITS.pageSize, most + 1);
  },
};
