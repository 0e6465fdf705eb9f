import { EsignCommand } from '../../cli/command.ts';
import { noteRefusal } from '../../cli/dry-run.ts';
import { dryRunFlag, latestRunArg } from '../../cli/flags.ts';
import { confirmed } from '../../cli/input/confirm.ts';
import { readWebhookSecret } from '../../cli/input/secrets.ts';
import { counted } from '../../kernel/duration.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';
import type { Context } from '../../session/context.ts';
import { type RemainingWork, remainingWork } from '../remaining-work.ts';
import type { RunState } from '../run-state.ts';
import type { OpenRun } from '../runs.ts';
import { bulkFlags } from './bulk-flags.ts';
import { BulkProgress } from './bulk-progress.ts';
import { remainingText } from './preflight-text.ts';
import { bulkClient, closingOnError, namedRun, reopenRun, runToCompletion } from './run-to-completion.ts';

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
    const { terminal, session } = context;
    const progress = new BulkProgress(context);
    const client = () => bulkClient(progress, session);
    const webhookSecret = await readWebhookSecret(flags['webhook-secret-file'], terminal);
    const run = await reopenRun(await namedRun(args.run), client, context);
    await closingOnError(run, async () => {
      refuseEnded(run.state);
      const last = lastRowOf(run, flags.first);
      const rest = await remainingWork(run, last);
      if (flags['dry-run']) return showRemaining(run.state, rest, context);
      if (rest.rows === 0) return;
      const clearance = await (await client()).checkWrites([rest.write]);
      await confirmRest(run.state, rest, flags.yes === true || clearance.isConfirmed, context);
      await clearance.confirm();
      if (last !== run.state.lastBegun) await run.note({ type: 'upTo', row: last, at: session.clock.now() });
    });
    if (flags['dry-run']) return run.close();
    await runToCompletion(run, { client: await client(), webhookSecret, progress }, context);
  }
}

function refuseEnded({ head, endedAt }: RunState): void {
  if (endedAt === undefined) return;
  throw new ServiceError('INVALID_STATE', `${head.id} was canceled, so it can't be resumed.`, {
    status: 400,
    hint: 'To send its rows after all, run `esign bulk create` again.',
  });
}

/** Returns the last row that a resume works on. An interrupted `--first` is finished before further rows begin. */
function lastRowOf({ state }: OpenRun, first: number | undefined): number {
  const isInFirst = state.lastBegun < state.head.total && !state.isPaused;
  return isInFirst ? state.lastBegun : state.lastOfNext(first);
}

async function confirmRest(
  { head }: RunState,
  { rows, signers }: RemainingWork,
  yes: boolean,
  context: Context,
): Promise<void> {
  if (rows < 2) return;
  const sends = head.mode !== 'draft';
  const question = sends
    ? `Send the other ${counted(rows, 'envelope')} of ${head.id} to ${counted(signers, 'signer')}?`
    : `Create the other ${counted(rows, 'draft')} of ${head.id}?`;
  // Drafts email nobody, so without a terminal, only sending needs --yes.
  const isAgreed = yes || (!sends && !context.terminal.canAsk);
  await confirmed(question, { yes: isAgreed, otherwise: 'nothing was sent' }, context);
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
