import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { failuresOf, lastRun, runStore } from '../../cli/bulking.ts';
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
    const id = await lastRun(args.run, flags.last);
    const { summary } = await runStore().read(id);
    const failures = await failuresOf(id);
    if (around.json) return writeJson({ ...summary, failures }, around.terminal);
    await around.terminal.out(renderRun(summary, failures, around.terminal));
  }
}
