import { detailsOf, failuresOf } from '../../bulk/run-list.ts';
import { readRun } from '../../bulk/runs.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, latestRunArg } from '../../cli/flags.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { writeJson } from '../../output/json.ts';
import { namedRun } from './run.ts';
import { renderRun } from './view.ts';

export default class BulkShow extends EsignCommand {
  static override summary = 'Show the status of a run, its failed rows, and the reasons.';
  static override examples = [
    '<%= config.bin %> bulk show --last',
    '<%= config.bin %> bulk show run-20261121-093012345-4f2a',
    '<%= config.bin %> bulk show --last --json | jq .failures',
  ];
  static override args = latestRunArg;
  static override flags = { last: booleanFlag('the latest run') };

  async run(): Promise<void> {
    const { args, flags, terminal } = await this.start(BulkShow);
    const id = await namedRun(args.run, flags.last, { orLast: true });
    const run = await detailsOf(runsDir(), await readRun(runsDir(), id));
    const failures = await failuresOf(runsDir(), id);
    const out = terminal.hidingSecrets();
    if (terminal.json) return writeJson({ ...run, failures }, out);
    await out.out(renderRun(run, failures, terminal));
  }
}
