import type { Context } from '../../cli/context.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { readAccount } from '../../cli/selection/account.ts';
import { type SelectionFlagValues, selectionOf } from '../../cli/selection/flags.ts';
import type { Selection } from '../../envelopes/select.ts';
import type { Moment } from '../../kernel/clock.ts';
import { writeJson } from '../../output/json.ts';
import { writeList } from '../../output/list.ts';
import { REPORT_MS } from '../../statistics/defaults.ts';
import type { GroupBy } from '../../statistics/groups.ts';
import { measure } from '../../statistics/report.ts';
import { markdownTable } from './markdown.ts';
import { reportPage } from './page.ts';
import { figuresList, renderReport } from './view.ts';

export interface ReportFlags extends SelectionFlagValues {
  by?: GroupBy | undefined;
  html?: string | undefined;
  markdown?: boolean | undefined;
  csv?: boolean | undefined;
}

/** Shows statistics about the selected envelopes. */
export async function showReport(flags: ReportFlags, context: Context): Promise<void> {
  const { session, terminal } = context;
  const out = terminal.hidingSecrets();
  const selection = withDefaultSince(await selectionOf(flags, context));
  const account = await readAccount({ selection, scope: 'selected' }, context);
  const now = session.now();
  const { report, details } = await measure(account, {
    since: selection.createdAfter?.(now) ?? null,
    until: selection.createdBefore?.(now) ?? now,
    now,
    by: flags.by,
  });
  if (flags.html !== undefined) {
    const page = terminal.redactor.redact(reportPage({ report, details, now, by: flags.by }));
    await writeNewFile(flags.html, page, true, terminal);
    if (flags.html === '-') return;
  }
  if (terminal.json) return writeJson(report, out);
  const rows = flags.by === undefined ? [{ key: null, name: 'all', ...report }] : report.groups;
  if (flags.markdown) return out.out(markdownTable(rows, report));
  if (flags.csv || !terminal.outIsTty) return writeList(rows, figuresList(flags.by), flags, out);
  await out.out(renderReport({ report, details, now, by: flags.by }, terminal));
}

/** Limits a selection without a start to 90 days. For a run, all of it is reported. */
function withDefaultSince(selection: Selection): Selection {
  const { createdAfter, createdBefore, run } = selection;
  if (createdAfter !== undefined || run !== undefined) return selection;
  const until: Moment = createdBefore ?? ((now) => now);
  return { ...selection, createdAfter: (now) => until(now) - REPORT_MS };
}
