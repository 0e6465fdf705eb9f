import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag, latestRunArg } from '../../cli/flags.ts';
import type { Context } from '../../cli/session/context.ts';
import type { RunState } from '../../runs/run-state.ts';
import type { OpenRun } from '../../runs/runs.ts';
import { resolveRunId } from '../../selection/selected-run.ts';
import { remainingWork } from '../planned-work.ts';
import { bulkFlags } from './bulk-flags.ts';
import { confirmRest, printResumePlan } from './run/confirm-work.ts';
import { reopenRun } from './run/reopen-run.ts';
import { createRunTools, workOnRun } from './run/work-on-run.ts';

export default class BulkResume extends EsignCommand {
  static override summary =
    'Resume an interrupted or paused run. No row is lost and nobody is emailed twice.';
  static override description =
    'A run that was interrupted during its --first rows finishes these and is paused again. A paused run sends the rest, or the next N rows with --first.';
  static override examples = [
    '<%= config.bin %> bulk resume',
    '<%= config.bin %> bulk resume --dry-run',
    '<%= config.bin %> bulk resume --first 200',
    '<%= config.bin %> bulk resume run-20261121-093012345-4f2a --yes',
    '<%= config.bin %> bulk resume --yes --json | jq -c "select(.ok | not)"',
  ];
  static override args = latestRunArg;
  static override flags = {
    ...bulkFlags,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkResume);
    const means = await createRunTools(flags, context);
    const run = await reopenRun(await resolveRunId(args.run, context), means, context);
    try {
      if (await planRest(run, flags, context)) await workOnRun(run, means, context);
    } finally {
      await run.close();
    }
  }
}

/** Shows what is left of a run, and asks for confirmation. Returns false for a dry run. */
async function planRest(
  run: OpenRun,
  flags: { first?: number | undefined; yes?: boolean; 'dry-run': boolean },
  context: Context,
): Promise<boolean> {
  const { state } = run;
  const last = lastRowOf(state, flags.first);
  const work = await remainingWork(run, last);
  if (flags['dry-run']) {
    await printResumePlan(state, work, context);
    return false;
  }
  if (work.rows === 0) return true;
  await confirmRest(state, { work, last }, flags.yes, context);
  if (last !== state.lastBegun) await run.note({ type: 'upTo', row: last, at: context.session.clock.now() });
  return true;
}

/** Returns the last row that a resume works on. An interrupted `--first` is finished before further rows begin. */
function lastRowOf(state: RunState, first: number | undefined): number {
  const isInFirst = state.lastBegun < state.head.total && !state.isPaused;
  return isInFirst ? state.lastBegun : state.lastOfNext(first);
}
