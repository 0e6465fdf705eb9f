import * as Flags from '@oclif/core/flags';
import { readResults } from '../../../bulk/run-list.ts';
import { EsignCommand } from '../../../cli/command.ts';
import { latestRunArg, readFlags } from '../../../cli/flags.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { writeJsonLine } from '../../../output/json.ts';
import { writeList } from '../../../output/list.ts';
import { delimiterFlag } from '../flags.ts';
import { namedRun } from '../run.ts';
import { resultList } from '../view.ts';
import { exportInto } from './into.ts';

export default class BulkExport extends EsignCommand {
  static override summary = 'Export the results of a run, on their own or as columns added to your file.';
  static override description =
    'With --into, prints your source file with the columns esign_row_status, esign_envelope_id, esign_signed_at, esign_waiting_for, and esign_error. Everything else stays the same, and your file is not changed. Rows are matched by their content, so you can sort the file and add columns. A row without a match gets empty cells, and the exit code is 10. An .xlsx file becomes CSV in UTF-8.';
  static override examples = [
    '<%= config.bin %> bulk export --last > results.csv',
    '<%= config.bin %> bulk export run-20261121-093012345-4f2a --csv',
    '<%= config.bin %> bulk export --last --into people.csv > people-results.csv',
    '<%= config.bin %> bulk export --last --into people.csv --failed > fix-these.csv',
    '<%= config.bin %> bulk export --last --json | jq -r "select(.ok) | .envelopeId"',
  ];
  static override args = latestRunArg;
  static override flags = {
    last: Flags.boolean({ description: 'the latest run' }),
    csv: Flags.boolean({ description: 'print CSV (default)', exclusive: ['json'] }),
    into: Flags.string({
      description: "the run's source file, printed with the results added; `-` for stdin",
      helpValue: 'FILE',
      exclusive: ['json', 'csv'],
    }),
    failed: Flags.boolean({
      description: 'with --into, print only rows without an envelope',
      dependsOn: ['into'],
    }),
    ...readFlags,
    delimiter: delimiterFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkExport);
    const context = this.context(flags);
    const id = await namedRun(args.run, flags.last, { orLast: true });
    const { into } = flags;
    if (into !== undefined) return exportInto({ ...flags, id, into }, context);
    const results = readResults(runsDir(), id);
    const out = context.terminal.hidingSecrets();
    if (!context.terminal.json) return writeList(results, resultList, { csv: true }, out);
    for await (const result of results) await writeJsonLine(result, out);
  }
}
