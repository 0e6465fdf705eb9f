import { canAsk, peopleAt, questionAbout, requireConfirmation } from '../../../cli/input/confirm.ts';
import { counted } from '../../../kernel/duration.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { nameOf } from '../../../kernel/text/person.ts';
import { hasSigned } from '../../../kernel/vocabulary.ts';
import { inColumns, safeLine, truncate } from '../../../output/text.ts';
import type { Context } from '../../../session/context.ts';
import type { EnvelopeAction, Execution, Plan } from '../../plan-writes.ts';
import { unconfirmedError } from '../confirm-concerns.ts';

export interface AskOptions {
  /** Set by `--yes`. */
  yes: boolean;
  /** Whether stdin was used for something else, such as IDs. */
  fromStdin: boolean;
}

export type ExecutablePlan = Plan & Execution;

/** The most rows to show above the question. */
const MAX_ROWS = 20;

/**
 * Asks before several envelopes are changed, and before a single one if the user should know something about it. Returns the plans to
 * execute.
 * @throws UsageError if the answer is no, or several need --yes; GuardError if the profile doesn't allow the writes.
 */
export async function confirmPlans(
  action: EnvelopeAction,
  plans: readonly Plan[],
  asking: AskOptions,
  context: Context,
): Promise<Plan[]> {
  const { terminal, session } = context;
  const planned = plans.filter(isExecutable);
  if (planned.length === 0) return [...plans];
  const clearance = await (await session.client()).checkWrites(planned.flatMap(({ writes }) => writes));
  const isAsked = !asking.yes && !clearance.isConfirmed && needsAnswer(plans, planned, asking, context);
  if (isAsked) {
    if (!terminal.json) showPlans(plans, context);
    const question = await questionAbout(whatIsDone(action, planned), context);
    if (clearance.asksName) terminal.notice(question);
    else
      await requireConfirmation(question, { ...asking, otherwise: 'nothing was sent or changed' }, context);
  }
  await clearance.confirm();
  return isAsked ? [...plans] : plans.map((plan) => planWithoutAsking(plan, asking.yes, context));
}

function needsAnswer(
  plans: readonly Plan[],
  [first]: readonly ExecutablePlan[],
  { fromStdin }: AskOptions,
  { terminal }: Context,
): boolean {
  return plans.length > 1 || (first?.concerns.length !== 0 && canAsk(terminal, fromStdin));
}

/** Reports what the user should know about a plan if nobody is asked. What needs confirmation becomes a refusal. */
export function planWithoutAsking(plan: Plan, yes: boolean, { terminal }: Context): Plan {
  if (!isExecutable(plan)) return plan;
  const { id, envelope, notes, concerns } = plan;
  const error = unconfirmedError(concerns, yes);
  if (error !== undefined) return { id, envelope, kind: 'refuse', error };
  const open = concerns.filter((one) => !(yes && one.coveredByYes));
  for (const text of [...notes, ...open.map((one) => one.text)])
    terminal.notice(text.includes(id) ? text : `${id}: ${text}`);
  return plan;
}

/** Returns `Send 3 envelopes to 5 people`. */
export function whatIsDone({ name }: EnvelopeAction, planned: readonly ExecutablePlan[]): string {
  const envelopes = counted(planned.length, 'envelope');
  const people = peopleAt(planned.flatMap(({ signers }) => signers.map(({ email }) => email)));
  return {
    send: `Send ${envelopes} to ${people}`,
    cancel: `Cancel ${envelopes} for ${people}`,
    remind: `Remind ${people} about ${envelopes}`,
  }[name];
}

export function isExecutable(plan: Plan): plan is ExecutablePlan {
  return plan.kind === 'execute';
}

/** Shows the envelopes above the question: what the user should know about them, and those that are left out. */
function showPlans(plans: readonly Plan[], context: Context): void {
  const { terminal } = context;
  const planned = plans.filter(isExecutable);
  const left = plans.filter((plan) => !isExecutable(plan));
  const lines = [
    ...inColumns(planned.slice(0, MAX_ROWS).map((plan) => cellsOf(plan, context))).map((line) => `  ${line}`),
    ...more(planned),
    ...planned.flatMap((plan) => findingsOf(plan).map((text) => `! ${hidden(text, context)}`)),
    ...left.slice(0, MAX_ROWS).map((plan) => hidden(`Left out ${plan.id}: ${reasonOf(plan)}`, context)),
    ...more(left),
  ];
  const columns = process.stderr.columns || 80;
  terminal.err(lines.map((line) => `${truncate(line, columns - 1)}\n`).join(''));
}

function findingsOf({ id, notes, concerns }: ExecutablePlan): string[] {
  const texts = [...notes, ...concerns.map(({ text }) => text)];
  return texts.map((text) => (text.includes(id) ? text : `${id}: ${text}`));
}

function reasonOf(plan: Plan): string {
  if (plan.kind === 'skip') return sentenceOf(plan.reason);
  return plan.kind === 'refuse' ? sentenceOf(plan.error) : '';
}

/** Returns ID, subject, and who has to sign, without secrets. */
export function cellsOf({ id, envelope }: Plan, context: Context): string[] {
  const waiting = (envelope?.signers ?? []).filter((one) => !hasSigned(one)).map(nameOf);
  const [first = '', ...others] = waiting;
  const whom = others.length > 1 ? `${first} +${others.length}` : waiting.join(' and ');
  const texts = [id, envelope?.subject || envelope?.templateName || '', whom && `for ${whom}`];
  return texts.map((text) => hidden(text, context));
}

/** Redacts a text before it is truncated, because a part of a secret would not be recognized. */
function hidden(text: string, { terminal: { redactor } }: Context): string {
  return safeLine(redactor.redact(text));
}

function more(all: readonly unknown[]): string[] {
  return all.length > MAX_ROWS ? [`  … and ${all.length - MAX_ROWS} more`] : [];
}
