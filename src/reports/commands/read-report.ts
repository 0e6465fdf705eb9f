import type { Selection } from '../../catalog/selection.ts';
import type { Context } from '../../cli/session/context.ts';
import { readAccount } from '../../selection/select-envelopes.ts';
import type { SelectionFlagValues } from '../../selection/selection-flags.ts';
import type { GroupBy } from '../groups.ts';
import { DEFAULT_PERIOD_MS } from '../report-limits.ts';
import { computeReport } from '../summarize.ts';
import { attentionWithCommands } from './report-attention.ts';

/** The first and the last moment of a month in UTC, in ms. */
export interface Month {
  since: number;
  until: number;
}

interface Wanted {
  selection: Selection;
  /** The flags of the selection, which the commands repeat. */
  flags: SelectionFlagValues & { month?: Month | undefined };
  by: GroupBy | undefined;
}

/** Reads the account and computes the report of the selected envelopes. What needs attention doesn't depend on the period. */
export async function readReport({ selection, flags, by }: Wanted, context: Context) {
  const { createdAfter: _, createdBefore: __, ...others } = selection;
  const account = await readAccount(others, context);
  const now = context.session.now();
  const period = flags.month ?? periodOf(selection, now);
  const { report, weeks } = await computeReport(account, { ...period, now, by });
  return {
    report: { ...report, attention: attentionWithCommands(report.attention, flags, context.terminal) },
    weeks,
    now,
  };
}

/** Returns the period of the figures: without a beginning, 90 days; for a run, all of it. */
function periodOf({ createdAfter, createdBefore, run }: Selection, now: number) {
  const until = createdBefore?.(now) ?? null;
  if (createdAfter !== undefined) return { since: createdAfter(now), until };
  return { since: run === undefined ? (until ?? now) - DEFAULT_PERIOD_MS : null, until };
}
