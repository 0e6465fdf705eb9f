import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { formatFlags } from '../../cli/flags.ts';
import { selectionFlags } from '../../cli/selection/flags.ts';
import { groupByFlag } from './group-by-flag.ts';
import { showReport } from './run.ts';

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
    html: Flags.string({ description: 'also write an HTML page to this file', helpValue: 'FILE' }),
    markdown: Flags.boolean({
      description: 'print a Markdown table',
      helpGroup: 'OUTPUT',
      exclusive: ['json', 'csv'],
    }),
    csv: Flags.boolean({ ...formatFlags.csv, exclusive: ['json'] }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Report);
    await showReport(flags, this.context(flags));
  }
}
