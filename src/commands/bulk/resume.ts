import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, optionalArg } from '../../cli/flags.ts';
import { readWebhookSecret } from '../../cli/input/secrets.ts';
import { bulkFlags } from './flags.ts';
import { BulkProgress } from './progress.ts';
import {
  bulkClient,
  checkRemainingRows,
  closingOnError,
  namedRun,
  reopenRun,
  runToCompletion,
} from './run.ts';
import { beginNextWave } from './waves.ts';

export default class BulkResume extends EsignCommand {
  static override summary = 'Resume an interrupted run. No row is lost and nobody is emailed twice.';
  static override description =
    'For a run with --waves, sends the next wave, or finishes an interrupted one and stops. With --stop-if, the envelopes already sent are checked first: if a limit is exceeded, nothing is sent, and the exit code is 10.';
  static override examples = [
    '<%= config.bin %> bulk resume --last',
    '<%= config.bin %> bulk resume run-20261121-093012345-4f2a',
    '<%= config.bin %> bulk resume --last --json | jq -c "select(.ok | not)"',
  ];
  static override args = { run: optionalArg('run ID') };
  static override flags = {
    last: booleanFlag('the latest run'),
    anyway: booleanFlag('send the next wave even if a --stop-if limit is exceeded', { default: false }),
    ...bulkFlags,
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(BulkResume);
    const progress = new BulkProgress(context);
    const client = () => bulkClient(flags, progress, context.session);
    const webhookSecret = await readWebhookSecret(flags['webhook-secret-file'], context.terminal);
    const run = await reopenRun(await namedRun(args.run, flags.last), client, context);
    await closingOnError(run, async () => {
      await beginNextWave(run, await client(), flags, context);
      await checkRemainingRows(run, await client());
    });
    await runToCompletion(run, { client: await client(), flags, webhookSecret, progress }, context);
  }
}
