import { Batch, type ItemResult } from '../../../cli/batch.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import { reportOf } from '../../../cli/error-report.ts';
import { canAsk } from '../../../cli/input/confirm.ts';
import type { Context } from '../../../cli/session/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { counted } from '../../../kernel/duration.ts';
import { paragraph, safeLine } from '../../../output/text.ts';
import { type EnvelopeAction, type ExecutablePlan, isExecutable, type Plan } from '../../plan-writes.ts';
import { whatIsDone } from './action-words.ts';
import { type AskOptions, planWithoutAsking } from './confirm-plans.ts';
import { skippedItem } from './execute-plans.ts';
import type { TargetEnvelopes } from './named-or-selected.ts';
import { redactedLine, renderPlans } from './plan-table.ts';

/**
 * Prints what would be done with each envelope, and whether a guard would refuse it.
 * @throws the error of a single envelope for which it isn't possible; PartialError if it isn't for some of several.
 */
export async function showDryRun(
  action: EnvelopeAction,
  plans: readonly Plan[],
  { stream, yes, fromStdin }: TargetEnvelopes & AskOptions,
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
  const planned = shown.filter(isExecutable);
  const { json, outIsTty } = context.terminal;
  const isTable = outIsTty && !json;
  if (isTable && planned.length > 0) await context.terminal.out(renderPlans(planned, context.terminal));
  const batch = new Batch(context);
  for (const plan of isTable ? shown.filter((one) => !isExecutable(one)) : shown) {
    if (plan.kind === 'refuse' && !stream) throw plan.error;
    const item = itemOf(action.name, plan, context);
    await batch.report({ ...item, json: { dryRun: true, action: action.name, id: plan.id, ...item.json } });
  }
  if (isTable && planned.length > 0)
    await context.terminal.out(totalsText(action, planned, context.terminal));
  await noteRefusal(
    planned.flatMap((plan) => plan.writes),
    context,
  );
  batch.end(plans.length);
}

function itemOf(name: string, plan: Plan, context: Context): Omit<ItemResult, 'json'> & { json?: object } {
  const { id } = plan;
  if (plan.kind === 'refuse')
    return {
      json: { error: reportOf(plan.error, context.terminal) },
      failure: { label: id, error: plan.error },
    };
  if (plan.kind === 'execute') return { text: `would ${name} ${safeLine(plan.id)}\n` };
  const { text } = skippedItem(id, plan.reason, context);
  return { json: { skipped: plan.reason.code }, text: context.terminal.outIsTty ? text : undefined };
}

/** Returns the line below the table on a terminal: `Would cancel 3 envelopes for 5 people. Nothing was sent or changed.` */
function totalsText(
  action: EnvelopeAction,
  planned: readonly ExecutablePlan[],
  terminal: CommandTerminal,
): string {
  const what = redactedLine(whatIsDone(action, planned), terminal);
  const text = `Would ${what.charAt(0).toLowerCase()}${what.slice(1)}. Nothing was sent or changed.`;
  return `${paragraph(text, terminal.columns)}\n`;
}
