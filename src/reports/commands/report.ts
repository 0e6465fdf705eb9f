import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { booleanFlag, fieldsFlag, formatFlags, outputFlag, textFlag } from '../../cli/flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import type { Context } from '../../cli/session/context.ts';
import { UsageError } from '../../kernel/errors.ts';
import { checkNewFile, formatOf, writeNewFile } from '../../kernel/files/new-file.ts';
import { writeJson } from '../../output/json.ts';
import { writeList } from '../../output/print-list.ts';
import { selectionFlags, selectionFromFlags } from '../../selection/selection-flags.ts';
import type { GroupBy } from '../groups.ts';
import { figuresList } from './figures-table.ts';
import { type Month, readReport } from './read-report.ts';
import { attentionItems, writeAttention } from './report-attention.ts';
import { reportPage } from './report-page.ts';
import { renderReport } from './report-text.ts';

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

const monthFlag = Flags.custom<Month>({
  parse: async (text) => {
    const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
    if (year === undefined || month === undefined)
      throw new UsageError(`--month "${text}" is not a month.`, { hint: 'Example: --month 2026-11' });
    const [y, m] = [Number(year), Number(month)];
    return { since: Date.UTC(y, m - 1), until: Date.UTC(y, m) - 1 };
  },
});

export default class Report extends EsignCommand {
  static override summary = 'Report what needs attention, and completion rates and times.';
  static override description =
    'What needs attention is shown whatever its age. The figures cover envelopes created in the last 90 days unless you select others. The time to complete is measured from sending to the last signature. The 85th percentile is the time within which 85% were completed. Drafts are not counted. Months and weeks are in UTC.';
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --month 2026-11 --html report.html',
    '<%= config.bin %> report --by template --since 365d',
    '<%= config.bin %> report --run last',
    '<%= config.bin %> report --by meta.department --csv',
    '<%= config.bin %> report --attention --exit-code',
  ];
  static override flags = {
    ...selectionFlags,
    month: monthFlag({
      description: 'only envelopes created in this month, in UTC',
      helpValue: '2026-11',
      exclusive: ['since', 'older-than'],
    }),
    by: groupByFlag({
      description: 'group by template, role, month, week, run, or a metadata key',
      helpValue: 'template|role|month|week|run|meta.KEY',
    }),
    html: textFlag('FILE', 'also write an HTML page to this file'),
    output: outputFlag(['json']),
    force: formatFlags.force,
    attention: booleanFlag('print only what needs attention, and nothing if nothing does', {
      exclusive: ['month', 'since', 'older-than', 'by', 'html', 'output'],
    }),
    'exit-code': booleanFlag('exit with code 10 if something needs attention', { dependsOn: ['attention'] }),
    csv: Flags.boolean({ ...formatFlags.csv, exclusive: ['json'] }),
    fields: fieldsFlag('name,sent,completionRate'),
  };

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(Report);
    const table = outputTable(flags, terminal);
    const isList = flags.csv || flags.fields !== undefined || table !== undefined;
    if (flags.html !== undefined)
      checkPage(flags.html, { force: flags.force, isOther: terminal.json || isList });
    const out = terminal.hidingSecrets();
    const selection = await selectionFromFlags(flags, context);
    const { report, weeks, now } = await readReport({ selection, flags, by: flags.by }, context);
    if (flags.attention) {
      const items = attentionItems(report.attention);
      if (flags['exit-code'] && items.length > 0) process.exitCode = EXIT.partial;
      return writeAttention(items, flags, out);
    }
    const content = { report, weeks, now, by: flags.by, account: await accountName(context) };
    if (flags.html !== undefined) {
      const page = terminal.redactor.redact(await reportPage(content));
      if (flags.html === '-') return terminal.out(page);
      await writeNewFile(flags.html, page, flags.force);
      terminal.notice(`Created ${flags.html}.`);
    }
    if (terminal.json) return writeJson(report, out);
    const rows = flags.by === undefined ? [{ key: null, name: 'all', ...report }] : report.groups;
    if (isList || !terminal.outIsTty) return writeList(rows, figuresList(flags.by), { ...flags, table }, out);
    await out.out(renderReport(content, terminal));
  }
}

/** @throws UsageError if the page can't be created, or its name is not that of a page. */
function checkPage(path: string, { force, isOther }: { force: boolean; isOther: boolean }): void {
  if (path === '-') {
    if (!isOther) return;
    throw new UsageError('--html - and another format would both be written to stdout.', {
      hint: 'Use --html FILE.',
    });
  }
  formatOf(path, ['html', 'htm']);
  checkNewFile(path, force);
}

/** Returns the name of the profile and the host of the service. */
async function accountName({ session }: Context): Promise<string> {
  const { profileName, baseUrl } = await session.settings();
  const host = baseUrl && new URL(baseUrl.value).host;
  return [profileName?.value, host].filter(Boolean).join(', ');
}
