import { type RemainingWork, remainingWork } from '../../bulk/remaining-work.ts';
import type { RunState } from '../../bulk/run-state.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { noteRefusal } from '../../cli/dry-run.ts';
import { booleanFlag, dryRunFlag, optionalArg } from '../../cli/flags.ts';
import { readWebhookSecret } from '../../cli/input/secrets.ts';
import { writeJson } from '../../output/json.ts';
import { bulkFlags } from './flags.ts';
import { BulkProgress } from './progress.ts';
import { bulkClient, closingOnError, namedRun, reopenRun, runToCompletion } from './run.ts';
import { remainingText } from './view.ts';
import { checkNextWave } from './waves.ts';

export default class BulkResume extends EsignCommand {
  static override summary = 'Resume an interrupted run. No row is lost and nobody is emailed twice.';
  static override description =
    'For a run with --waves, sends the next wave, or finishes an interrupted one and stops. With --stop-if, the envelopes already sent are checked first: if a limit is exceeded, nothing is sent, and the exit code is 10.';
  static override examples = [
    '<%= config.bin %> bulk resume --last',
    '<%= config.bin %> bulk resume --last --dry-run',
    '<%= config.bin %> bulk resume run-20261121-093012345-4f2a',
    '<%= config.bin %> bulk resume --last --json | jq -c "select(.ok | not)"',
  ];
  static override args = { run: optionalArg('run ID') };
  static override flags = {
    last: booleanFlag('the latest run'),
    anyway: booleanFlag('send the next wave even if a --stop-if limit is exceeded', { default: false }),
    ...bulkFlags,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkResume);
    const { terminal, session } = context;
    const progress = new BulkProgress(context);
    const client = () => bulkClient(flags, progress, session);
    const webhookSecret = await readWebhookSecret(flags['webhook-secret-file'], terminal);
    const run = await reopenRun(await namedRun(args.run, flags.last), client, context);
    await closingOnError(run, async () => {
      const wave = await checkNextWave(run.state, await client(), flags, context);
      const rest = await remainingWork(run, wave ?? run.state.wave);
      if (flags['dry-run']) return showRemaining(run.state, rest, context);
      if (wave !== undefined && wave !== run.state.wave)
        await run.note({ type: 'wave', wave, at: session.clock.now() });
      if (rest.rows > 0) await (await (await client()).checkWrites([rest.write])).confirm();
    });
    if (flags['dry-run']) return run.close();
    await runToCompletion(run, { client: await client(), flags, webhookSecret, progress }, context);
  }
}

/** Prints what a resume would do. */
async function showRemaining(state: RunState, rest: RemainingWork, context: Context): Promise<void> {
  const { terminal } = context;
  const { write, ...counts } = rest;
  const { id: run, file, mode } = state.head;
  if (terminal.json)
    await writeJson({ dryRun: true, run, file, send: mode !== 'draft', ...counts }, terminal);
  else await terminal.out(`${remainingText(state, rest)}Check complete. Nothing was sent.\n`);
  await noteRefusal(rest.rows > 0 ? [write] : [], context);
}
