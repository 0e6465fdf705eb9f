import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, formatFlags, textFlag } from '../../cli/flags.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { readAccount } from '../../cli/selection/account.ts';
import { selectionFlags, selectionOf } from '../../cli/selection/flags.ts';
import type { Selection } from '../../envelopes/select.ts';
import type { Moment } from '../../kernel/clock.ts';
import { UsageError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';
import { writeList } from '../../output/list.ts';
import { REPORT_MS } from '../../statistics/defaults.ts';
import type { GroupBy } from '../../statistics/groups.ts';
import { measure } from '../../statistics/report.ts';
import { markdownTable } from './markdown.ts';
import { reportPage } from './page.ts';
import { figuresList, renderReport } from './view.ts';

const KINDS = ['template', 'role', 'month', 'week', 'run'] as const;
const META = 'meta.';

/** The grouping of a report: `template` or `meta.department`, for example. */
const groupByFlag = Flags.custom<GroupBy>({
  parse: async (text) => {
    if (text.startsWith(META) && text.length > META.length)
      return { kind: 'meta', metadataKey: text.slice(META.length) };
    const kind = KINDS.find((known) => known === text);
    if (kind !== undefined) return { kind };
    throw new UsageError(`Can't group by "${text}".`, { hint: `Use ${KINDS.join(', ')}, or meta.KEY.` });
  },
});

export default class Report extends EsignCommand {
  static override summary = 'Report completion rates and times by template, role, month, week, or run.';
  static override description =
    'Covers envelopes created in the last 90 days unless you select others. The time to complete is measured from sending to the last signature. The 85th percentile is the time within which 85% were completed. Drafts are not counted. Months and weeks are in UTC.';
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --by template --since 365d',
    '<%= config.bin %> report --by month --html report.html',
    '<%= config.bin %> report --run last --markdown',
    '<%= config.bin %> report --by meta.department --csv',
  ];
  static override flags = {
    ...selectionFlags,
    by: groupByFlag({
      description: 'group by template, role, month, week, run, or a metadata key',
      helpValue: 'template|role|month|week|run|meta.KEY',
    }),
    html: textFlag('FILE', 'also write an HTML page to this file'),
    markdown: booleanFlag('print a Markdown table', { helpGroup: 'OUTPUT', exclusive: ['json', 'csv'] }),
    csv: Flags.boolean({ ...formatFlags.csv, exclusive: ['json'] }),
  };

  async run(): Promise<void> {
    const { flags, context, session, terminal } = await this.start(Report);
    if (flags.html === '-' && (terminal.json || flags.csv || flags.markdown))
      throw new UsageError('--html - and another format would both be written to stdout.', {
        hint: 'Use --html FILE.',
      });
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
    const content = { report, details, now, by: flags.by };
    if (flags.html !== undefined) {
      const page = terminal.redactor.redact(reportPage(content));
      await writeNewFile(flags.html, page, true, terminal);
      if (flags.html === '-') return;
    }
    if (terminal.json) return writeJson(report, out);
    const rows = flags.by === undefined ? [{ key: null, name: 'all', ...report }] : report.groups;
    if (flags.markdown) return out.out(markdownTable(rows, report));
    if (flags.csv || !terminal.outIsTty) return writeList(rows, figuresList(flags.by), flags, out);
    await out.out(renderReport(content, terminal));
  }
}

/** Limits a selection without a start to 90 days. For a run, all of it is reported. */
function withDefaultSince(selection: Selection): Selection {
  const { createdAfter, createdBefore, run } = selection;
  if (createdAfter !== undefined || run !== undefined) return selection;
  const until: Moment = createdBefore ?? ((now) => now);
  return { ...selection, createdAfter: (now) => until(now) - REPORT_MS };
}
