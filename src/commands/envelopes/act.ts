import type { Envelope } from '../../api/schemas.ts';
import type { Context } from '../../cli/context.ts';
import { canAsk } from '../../cli/input/confirm.ts';
import type { Ids } from '../../cli/input/ids.ts';
import type { SelectionFlagValues } from '../../cli/selection/flags.ts';
import { type LeaveOut, readNamedOrSelected } from '../../cli/selection/named-or-selected.ts';
import { type ActionMeans, type EnvelopeAction, planAction } from '../../envelopes/plan.ts';
import { EsignError, ServiceError, sentenceOf } from '../../kernel/errors.ts';
import { actionMeans, batchAction } from './actions.ts';
import { forEachId } from './each.ts';
import { type BatchPreview, confirmBatch, showDryRun } from './preview.ts';
import { confirmProblems, type ProblemOptions } from './problems.ts';
import { renderDone } from './view.ts';

/** A command that acts on envelopes. */
export interface ActCommand {
  words: readonly string[];
  flags: { yes: boolean; 'dry-run': boolean };
  query: SelectionFlagValues;
  leaveOut: LeaveOut;
  actionOf: (means: ActionMeans) => EnvelopeAction;
  /** How to confirm the problems of a single envelope. */
  confirming: Omit<ProblemOptions, 'asks'>;
  /** Whether a dry run finds problems, too. */
  checksDryRun?: boolean;
}

/** Sends, cancels, or reminds the envelopes that a command names or selects, after checks and a confirmation. */
export async function act(command: ActCommand, context: Context): Promise<void> {
  const { words, flags, query, leaveOut, actionOf, confirming } = command;
  const { ids, selected } = await readNamedOrSelected(words, query, leaveOut, context);
  // A notice has already reported an empty selection.
  if (selected !== undefined && ids.ids.length === 0) return;
  const means = await actionMeans(context);
  const { client } = means;
  const action = actionOf(means);
  const check = async (id: string, asks: ProblemOptions['asks']) => {
    const problems = await action.findProblems(id, () => readIfAllowed(id, means));
    await confirmProblems(problems, { ...confirming, asks, id, fromStdin: ids.fromStdin }, context);
  };
  const preview: BatchPreview = {
    action,
    known: selected,
    plan: (id) => planAction(action, id, means, selected),
  };
  if (flags['dry-run']) {
    if (command.checksDryRun) await checkEach(ids, (id) => check(id, 'later'), context);
    return showDryRun(ids, preview, context);
  }
  const clearance = await client.checkWrites(ids.ids.map(action.writeFor));
  const isPreviewed = ids.ids.length > 1 && !flags.yes && !clearance.isConfirmed;
  const chosen = isPreviewed ? await confirmBatch(ids, preview, context) : ids;
  const asks = !flags.yes && !context.terminal.json && canAsk(context.terminal, ids.fromStdin);
  const [only] = ids.ids.length === 1 && (asks || !ids.stream) ? ids.ids : [];
  if (only !== undefined) await check(only, asks);
  await clearance.confirm();
  const isChecked = isPreviewed || only !== undefined;
  await action.run((execute) =>
    forEachId(
      {
        ids: chosen,
        act: async (id) => {
          if (!isChecked) await check(id, false);
          return execute(id);
        },
        show: ({ envelope, signers }) => renderDone(action.done, envelope, signers, context.terminal),
        action: batchAction(action, ids, context.session.words),
      },
      context,
    ),
  );
}

/** Checks each envelope of a dry run. Throws the error of a single one, and prints those of several. */
async function checkEach(
  { ids, stream }: Ids,
  check: (id: string) => Promise<void>,
  { terminal }: Context,
): Promise<void> {
  for (const id of ids)
    await check(id).catch((error: unknown) => {
      if (!stream || !(error instanceof EsignError)) throw error;
      terminal.notice(`${id}: ${sentenceOf(error)}`);
    });
}

/** Returns undefined if the key can't read envelopes. */
async function readIfAllowed(id: string, { client, signal }: ActionMeans): Promise<Envelope | undefined> {
  try {
    return await client.envelopes.get(id, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}
