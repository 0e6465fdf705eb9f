import { READ_CONCURRENCY } from '../../../api/request-defaults.ts';
import { Batch, type ItemResult } from '../../../cli/batch.ts';
import { reportOf } from '../../../cli/error-report.ts';
import { withOutcomeCheck } from '../../../cli/outcome-check.ts';
import type { Context } from '../../../cli/session/context.ts';
import {
  EsignError,
  GuardError,
  JournalError,
  NothingToDoError,
  sentenceOf,
} from '../../../kernel/errors.ts';
import { mapInOrder } from '../../../kernel/streams.ts';
import { writeJson } from '../../../output/json.ts';
import { safeLine } from '../../../output/text.ts';
import type { ActionReport, EnvelopeAction, Plan } from '../../plan-writes.ts';
import { ActionProgress } from './action-progress.ts';
import { renderDone } from './action-words.ts';
import type { TargetEnvelopes } from './named-or-selected.ts';

/** The result of a plan: done, nothing to do, or an error. */
type PlanOutcome = { id: string } & (
  | { done: ActionReport }
  | { skipped: NothingToDoError }
  | { error: unknown }
);

/**
 * Executes each plan. For a single envelope, prints it or throws its error. For several, tries all of them and prints a row or a JSON
 * line for each, in order, and then the totals.
 * @throws PartialError if some of several failed; StoppedError if some were not started after Ctrl-C.
 */
export async function executePlans(
  action: EnvelopeAction,
  plans: readonly Plan[],
  { stream }: TargetEnvelopes,
  context: Context,
): Promise<void> {
  const progress = new ActionProgress(
    action,
    plans.map(({ id }) => id),
    context.session.words,
  );
  const batch = new Batch(context);
  let skipped = 0;
  const open = { unknown: () => progress.unknown(), hint: () => progress.hint() };
  await withOutcomeCheck(open, context, async () => {
    const outcomes = mapInOrder(plans, READ_CONCURRENCY, (one) => attempt(one, progress, context));
    for await (const outcome of outcomes) {
      if (outcome === undefined) continue;
      if ('skipped' in outcome) skipped++;
      await print(action, outcome, { batch, isSingle: !stream }, context);
      progress.reported(outcome.id);
    }
    progress.throwIfStopped();
  });
  if (plans.length > 1) showTotals(action, { total: plans.length, skipped, failed: batch.failed }, context);
  batch.end(plans.length);
}

/** Returns undefined if it was not started, because the command is stopping. */
async function attempt(
  plan: Plan,
  progress: ActionProgress,
  { interrupt: { signal } }: Context,
): Promise<PlanOutcome | undefined> {
  const { id } = plan;
  if (plan.kind === 'skip') return { id, skipped: plan.reason };
  if (plan.kind === 'refuse') return { id, error: plan.error };
  try {
    signal.throwIfAborted();
    progress.begun(id);
    const done = await plan.execute();
    progress.ended(id);
    return { id, done };
  } catch (error) {
    if (signal.aborted && !(error instanceof EsignError)) return progress.notStarted(id, error);
    // A guard or an unwritable log stops every other write, too.
    const isOfAll = error instanceof GuardError || error instanceof JournalError;
    if (isOfAll && progress.isFirst()) throw error;
    progress.ended(id);
    if (error instanceof NothingToDoError) return { id, skipped: error };
    return { id, error: progress.withHint(id, error) };
  }
}

/** @throws the error of a single envelope. */
async function print(
  action: EnvelopeAction,
  outcome: PlanOutcome,
  { batch, isSingle }: { batch: Batch; isSingle: boolean },
  context: Context,
): Promise<void> {
  const { terminal } = context;
  if (isSingle && 'error' in outcome) throw outcome.error;
  if ('done' in outcome && outcome.done.by === 'lookup') explain(outcome.done, context);
  if (isSingle && 'done' in outcome && terminal.json)
    return writeJson(outcome.done.envelope, terminal.hidingSecrets());
  await batch.report(itemOf(action, outcome, context));
}

/** With --json, the reader counts the lines. */
function showTotals(
  { done }: EnvelopeAction,
  { total, skipped, failed }: { total: number; skipped: number; failed: number },
  { terminal }: Context,
): void {
  const others = [skipped > 0 ? `, ${skipped} skipped` : '', failed > 0 ? `, ${failed} failed` : ''];
  if (!terminal.json) terminal.notice(`${total - skipped - failed} ${done}${others.join('')}.`);
}

function itemOf({ done }: EnvelopeAction, outcome: PlanOutcome, context: Context): ItemResult {
  const { id } = outcome;
  if ('skipped' in outcome) return skippedItem(id, outcome.skipped, context);
  if ('error' in outcome) {
    const { error } = outcome;
    return {
      json: { id, ok: false, error: reportOf(error, { isWrite: true, account: context.terminal.account }) },
      failure: { label: id, error },
    };
  }
  const { envelope, signers } = outcome.done;
  return { json: { id, ok: true, envelope }, text: renderDone(done, envelope, signers, context.terminal) };
}

function explain({ envelope: { id, status } }: ActionReport, { terminal }: Context): void {
  terminal.notice(
    `The response for ${id} was lost, but the request succeeded: it is ${status ?? 'changed'}.`,
  );
}

/** Nothing needed to be done, which is success. In a pipe, a notice says why. */
export function skippedItem(id: string, reason: NothingToDoError, { terminal }: Context): ItemResult {
  const json = { id, ok: true, skipped: reason.code };
  const why = sentenceOf(reason);
  if (terminal.outIsTty) return { json, text: `${safeLine(`Skipped. ${why}`)}\n` };
  if (!terminal.json) terminal.notice(why);
  return { json, text: `${safeLine(id)}\t${reason.code}\n` };
}
