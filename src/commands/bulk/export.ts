import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { readResults } from '../../bulk/run-list.ts';
import { EsignCommand } from '../../cli/command.ts';
import { writeJsonLine } from '../../output/json.ts';
import { writeList } from '../../output/list.ts';
import { runsFolder } from './prepare.ts';
import { namedRun } from './run.ts';
import { resultList } from './view.ts';

export default class BulkExport extends EsignCommand {
  static override summary = 'Export the results of a run, row by row, as CSV or JSON Lines.';
  static override examples = [
    '<%= config.bin %> bulk export --last > results.csv',
    '<%= config.bin %> bulk export run-20261121-093012345-4f2a --csv',
    '<%= config.bin %> bulk export --last --json | jq -r "select(.ok) | .envelopeId"',
  ];
  static override args = {
    run: Args.string({ description: 'run ID (default: the latest run)', ignoreStdin: true }),
  };
  static override flags = {
    last: Flags.boolean({ description: 'the latest run' }),
    csv: Flags.boolean({ description: 'print CSV (default)', exclusive: ['json'] }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkExport);
    const context = this.context(flags);
    const results = readResults(runsFolder(), await namedRun(args.run, flags.last, { orLast: true }));
    if (!context.terminal.json) return writeList(results, resultList, { csv: true }, context.terminal);
    for await (const result of results) await writeJsonLine(result, context.terminal);
  }
}
