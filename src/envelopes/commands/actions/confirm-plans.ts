import { canAsk, confirmWrites } from '../../../cli/input/confirm.ts';
import type { Context } from '../../../cli/session/context.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { paragraph } from '../../../output/text.ts';
import { type EnvelopeAction, type ExecutablePlan, isExecutable, type Plan } from '../../plan-writes.ts';
import { unconfirmedError } from '../confirm-concerns.ts';
import { whatIsDone } from './action-words.ts';
import { redactedLine, renderPlans } from './plan-table.ts';

export interface AskOptions {
  /** Set by `--yes`. */
  yes: boolean;
  /** Whether stdin was used for something else, such as IDs. */
  fromStdin: boolean;
}

/** The most lines to show above the question, and how many of them are findings, and envelopes that are left out. */
const MAX_LINES = 18;
const MAX_FINDINGS = 3;

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
  const planned = plans.filter(isExecutable);
  if (planned.length === 0) return [...plans];
  const question = {
    ...asking,
    what: whatIsDone(action, planned),
    otherwise: 'nothing was sent or changed',
    show: () => showPlans(plans, context),
  };
  const writes = planned.flatMap((plan) => plan.writes);
  const needsQuestion = needsAnswer(plans, planned, asking, context);
  const isAsked = await confirmWrites(writes, needsQuestion ? question : undefined, context);
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

/** Shows the envelopes above the question: what the user should know about them, and those that are left out. */
function showPlans(plans: readonly Plan[], context: Context): void {
  const { terminal } = context;
  if (terminal.json) return;
  const planned = plans.filter(isExecutable);
  const left = plans.filter((plan) => !isExecutable(plan));
  const findings = planned.flatMap((plan) =>
    findingsOf(plan).map((text) => `! ${redactedLine(text, terminal)}`),
  );
  const others = left.map((plan) => redactedLine(`Left out ${plan.id}: ${reasonOf(plan)}`, terminal));
  const below = [...firstOf(findings), ...firstOf(others)];
  const width = (process.stderr.columns || 80) - 1;
  const { table, shown } = tableWithin(MAX_LINES - below.length, planned, width, context);
  const lines = [...(planned.length > shown ? [`… and ${planned.length - shown} more`] : []), ...below];
  terminal.err(`${table}${lines.map((line) => `${paragraph(line, width)}\n`).join('')}`);
}

/** Returns the table of the first plans that fit on `lines` lines, and their number. */
function tableWithin(
  lines: number,
  planned: readonly ExecutablePlan[],
  columns: number,
  { terminal }: Context,
): { table: string; shown: number } {
  const view = { ...terminal, style: terminal.styleErr, columns };
  for (let shown = Math.min(lines, planned.length); shown > 0; shown--) {
    const table = renderPlans(planned.slice(0, shown), view);
    if (terminal.accessible || table.trimEnd().split('\n').length - 1 <= lines) return { table, shown };
  }
  return { table: '', shown: 0 };
}

/** Returns the first lines, and the number of the others. */
function firstOf(lines: readonly string[]): string[] {
  const rest = lines.length - MAX_FINDINGS;
  return rest > 0 ? [...lines.slice(0, MAX_FINDINGS), `… and ${rest} more like these`] : [...lines];
}

function findingsOf({ id, notes, concerns }: ExecutablePlan): string[] {
  const texts = [...notes, ...concerns.map(({ text }) => text)];
  return texts.map((text) => (text.includes(id) ? text : `${id}: ${text}`));
}

function reasonOf(plan: Plan): string {
  if (plan.kind === 'skip') return sentenceOf(plan.reason);
  return plan.kind === 'refuse' ? sentenceOf(plan.error) : '';
}
