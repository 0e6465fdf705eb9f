import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { inGroup, readFlags, rowsFile, sinceFlag } from '../../../cli/flags.ts';
import { delimiterFlag } from '../flags.ts';
import { showRoster } from './run.ts';

export default class BulkRoster extends EsignCommand {
  static override summary = 'Show who on a list has signed a template.';
  static override description =
    'Prints one line for each signer in each row: signed, waiting (an envelope is open), declined, expired, cancelled, or never. Finds envelopes by template and address, no matter who created them. With --missing, prints the rows of FILE with signers who have neither signed nor been asked, ready for `bulk create`.';
  static override examples = [
    '<%= config.bin %> bulk roster staff.csv --template tmpl_policy',
    '<%= config.bin %> bulk roster staff.xlsx --template tmpl_policy --since 2026-01-01 --csv > signed.csv',
    '<%= config.bin %> bulk roster staff.csv --template tmpl_policy --missing | <%= config.bin %> bulk create - --template tmpl_policy --send --yes',
  ];
  static override args = rowsFile;
  static override flags = {
    template: Flags.string({ description: 'template to look for', helpValue: 'ID', required: true }),
    since: sinceFlag({
      description: 'only envelopes created since this time (default: all)',
      helpValue: '90d|DATE',
    }),
    missing: Flags.boolean({
      description: 'print the original rows that are neither signed nor waiting',
      default: false,
      exclusive: ['json', 'csv', 'fields'],
    }),
    ...inGroup('OUTPUT', {
      csv: Flags.boolean({ description: 'print CSV with a header', exclusive: ['json'] }),
      fields: Flags.string({ description: 'columns to print, such as email,state', helpValue: 'A,B' }),
    }),
    ...readFlags,
    delimiter: delimiterFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkRoster);
    await showRoster(args.file, flags, this.context(flags));
  }
}
