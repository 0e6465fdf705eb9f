import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { detailsOf, failuresOf } from '../../bulk/history.ts';
import { runsFolder } from '../../cli/bulk-preparing.ts';
import { namedRun } from '../../cli/bulk-running.ts';
import { EsignCommand } from '../../cli/command.ts';
import { renderRun } from '../../output/bulk-view.ts';
import { writeJson } from '../../output/json.ts';

export default class BulkShow extends EsignCommand {
  static override summary = 'Show where a run stands, and which rows failed and why.';
  static override examples = [
    '<%= config.bin %> bulk show --last',
    '<%= config.bin %> bulk show run-20261121-093012345-4f2a',
    '<%= config.bin %> bulk show --last --json | jq .failures',
  ];
  static override args = { run: Args.string({ description: 'id of the run', ignoreStdin: true }) };
  static override flags = { last: Flags.boolean({ description: 'the latest run' }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkShow);
    const around = this.surroundings(flags);
    const id = await namedRun(args.run, flags.last);
    const run = await detailsOf(runsFolder(), id);
    const failures = await failuresOf(runsFolder(), id);
    if (around.json) return writeJson({ ...run, failures }, around.terminal);
    await around.terminal.out(renderRun(run, failures, around.terminal));
  }
}
