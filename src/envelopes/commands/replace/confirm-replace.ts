import type { PlannedWrite } from '../../../api/write-gate.ts';
import { confirmWrites, peopleAt } from '../../../cli/input/confirm.ts';
import type { Context } from '../../../cli/session/context.ts';
import { plannedCreate } from '../../../once/create-body.ts';
import type { ReplacementPlan } from '../../replace/plan-replacement.ts';
import { renderPlan } from './replaced-text.ts';

/** Asks before a replacement on a terminal, and as the guards require. @throws UsageError if the answer is no; GuardError */
export async function confirmReplacement(
  plan: ReplacementPlan,
  yes: boolean | undefined,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const redact = (text: string) => terminal.redactor.redact(text);
  const question = {
    what: whatIsReplaced(plan),
    yes,
    otherwise: 'nothing was created, canceled, or sent',
    show: () => terminal.err(renderPlan(plan, { style: terminal.styleErr, redact })),
  };
  await confirmWrites(plannedWritesOf(plan), terminal.canAsk ? question : undefined, context);
}

export function plannedWritesOf({ old, wanted, made, steps }: ReplacementPlan): PlannedWrite[] {
  const sends = steps.includes('send');
  return [
    ...(made === undefined ? [plannedCreate({ ...wanted, send: sends })] : []),
    ...(steps.includes('cancel') ? [{ action: 'cancel', envelopeId: old.id } as const] : []),
    ...(made !== undefined && sends ? [{ action: 'send', envelopeId: made.id } as const] : []),
  ];
}

/** Returns `Replace env_1 and email 2 people`. */
export function whatIsReplaced({ old, wanted, steps }: ReplacementPlan): string {
  if (steps.includes('send'))
    return `Replace ${old.id} and email ${peopleAt(wanted.signers.map(({ email }) => email))}`;
  return steps.includes('cancel') ? `Cancel ${old.id}` : 'Create the draft';
}
