import { Batch, type ItemResult } from '../../../cli/batch.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import { reportOf } from '../../../cli/error-report.ts';
import { canAsk } from '../../../cli/input/confirm.ts';
import type { Context } from '../../../cli/session/context.ts';
import { counted } from '../../../kernel/duration.ts';
import { safeLine, truncate } from '../../../output/text.ts';
import type { EnvelopeAction, Plan } from '../../plan-writes.ts';
import { isExecutable } from '../../plan-writes.ts';
import { type AskOptions, cellsOf, planWithoutAsking } from './confirm-plans.ts';
import { skippedItem } from './execute-plans.ts';
import type { Targets } from './named-or-selected.ts';

/**
 * Prints what would be done with each envelope, and whether a guard would refuse it.
 * @throws the error of a single envelope for which it isn't possible; PartialError if it isn't for some of several.
 */
export async function showDryRun(
  { name }: EnvelopeAction,
  plans: readonly Plan[],
  { stream, yes, fromStdin }: Targets & AskOptions,
  context: Context,
): Promise<void> {
  const asks = !yes && canAsk(context.terminal, fromStdin);
  // A dry run never needs an answer. It only says that the command will.
  const shown = asks ? plans : plans.map((plan) => planWithoutAsking(plan, true, context));
  const unconfirmed = plans.filter(
    (plan) => isExecutable(plan) && plan.concerns.some(({ coveredByYes }) => coveredByYes),
  );
  if (!asks && !yes && unconfirmed.length > 0)
    context.terminal.notice(
      `Without a terminal, ${counted(unconfirmed.length, 'envelope')} will need --yes.`,
    );
  const batch = new Batch(context);
  for (const plan of shown) {
    if (plan.kind === 'refuse' && !stream) throw plan.error;
    const { json, text, failure } = itemOf(name, plan, context);
    await batch.report({ json: { dryRun: true, action: name, id: plan.id, ...json }, text, failure });
  }
  const writes = shown.flatMap((plan) => (isExecutable(plan) ? plan.writes : []));
  await noteRefusal(writes, context);
  batch.end(plans.length);
}

function itemOf(name: string, plan: Plan, context: Context): Omit<ItemResult, 'json'> & { json?: object } {
  const { id } = plan;
  if (plan.kind === 'refuse')
    return {
      json: { error: reportOf(plan.error, context.terminal) },
      failure: { label: id, error: plan.error },
    };
  if (plan.kind === 'execute') return { text: rowOf(name, plan, context) };
  const { text } = skippedItem(id, plan.reason, context);
  return { json: { skipped: plan.reason.code }, text: context.terminal.outIsTty ? text : undefined };
}

/** Returns the row of an envelope. On a terminal, it shows the subject and who has to sign. */
function rowOf(name: string, plan: Plan, context: Context): string {
  const { outIsTty, columns } = context.terminal;
  const row = `would ${name} ${outIsTty ? cellsOf(plan, context).join('  ') : safeLine(plan.id)}`;
  return `${outIsTty ? truncate(row, columns) : row}\n`;
}
