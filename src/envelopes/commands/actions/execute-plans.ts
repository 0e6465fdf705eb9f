import { READ_CONCURRENCY } from '../../../api/limits.ts';
import { Batch, type ItemResult } from '../../../cli/batch.ts';
import { reportOf } from '../../../cli/error-report.ts';
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
import type { Context } from '../../../session/context.ts';
import type { ActionReport, EnvelopeAction, Plan } from '../../plan-writes.ts';
import { renderDone } from '../envelope-text.ts';
import { withOutcomeCheck } from '../write-errors.ts';
import { ActionProgress } from './action-progress.ts';
import type { Targets } from './named-or-selected.ts';

/** The result of a plan: done, nothing to do, or an error. */
type Outcome = { id: string } & ({ done: ActionReport } | { skipped: NothingToDoError } | { error: unknown });

/**
 * Executes each plan. For a single envelope, prints it or throws its error. For several, tries all of them and prints a row or a JSON
 * line for each, in order, and then the totals.
 * @throws PartialError if some of several failed; StoppedError if some were not started after Ctrl-C.
 */
export async function executePlans(
  action: EnvelopeAction,
  plans: readonly Plan[],
  { stream }: Targets,
  context: Context,
): Promise<void> {
  const ids = plans.map(({ id }) => id);
  const progress = new ActionProgress(action, ids, context.session.words);
  const report = new OutcomeReport(action, { total: ids.length, isSingle: !stream }, context);
  const open = { unknown: () => progress.unknown(), hint: () => progress.hint() };
  await withOutcomeCheck(open, context, async () => {
    for await (const outcome of mapInOrder(plans, READ_CONCURRENCY, (one) =>
      attempt(one, progress, context),
    )) {
      if (outcome === undefined) continue;
      await report.take(outcome);
      progress.reported(outcome.id);
    }
    progress.throwIfStopped();
  });
  report.end();
}

/** Returns undefined if it was not started, because the command is stopping. */
async function attempt(
  plan: Plan,
  progress: ActionProgress,
  { interrupt: { signal } }: Context,
): Promise<Outcome | undefined> {
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

/** Prints outcomes. */
class OutcomeReport {
  readonly #action: EnvelopeAction;
  readonly #facts: { total: number; isSingle: boolean };
  readonly #context: Context;
  readonly #batch: Batch;
  #skipped = 0;

  constructor(action: EnvelopeAction, facts: { total: number; isSingle: boolean }, context: Context) {
    this.#action = action;
    this.#facts = facts;
    this.#context = context;
    this.#batch = new Batch(context);
  }

  /** @throws the error of a single envelope. */
  async take(outcome: Outcome): Promise<void> {
    const { terminal } = this.#context;
    const { isSingle } = this.#facts;
    if (isSingle && 'error' in outcome) throw outcome.error;
    if ('done' in outcome && outcome.done.by === 'lookup') this.#explain(outcome.done);
    if (isSingle && 'done' in outcome && terminal.json)
      return writeJson(outcome.done.envelope, terminal.hidingSecrets());
    if ('skipped' in outcome) this.#skipped++;
    await this.#batch.report(this.#itemOf(outcome));
  }

  /** Shows the totals of several. @throws PartialError if some failed. */
  end(): void {
    const { total, isSingle } = this.#facts;
    const { terminal } = this.#context;
    if (isSingle) return;
    const { failed } = this.#batch;
    const counts: [number, string][] = [
      [total - failed - this.#skipped, this.#action.done],
      [this.#skipped, 'skipped'],
      [failed, 'failed'],
    ];
    const parts = counts.filter(([count], index) => index === 0 || count > 0).map((part) => part.join(' '));
    // With --json, the reader counts the lines.
    if (total > 1 && !terminal.json) terminal.notice(`${parts.join(', ')}.`);
    this.#batch.end(total);
  }

  #itemOf(outcome: Outcome): ItemResult {
    const { id } = outcome;
    const { terminal } = this.#context;
    if ('error' in outcome) {
      const { error } = outcome;
      return {
        json: { id, ok: false, error: reportOf(error, { isWrite: true }) },
        failure: { label: id, error },
      };
    }
    if ('skipped' in outcome) return skippedItem(id, outcome.skipped, this.#context);
    const { envelope, signers } = outcome.done;
    const text = renderDone(this.#action.done, envelope, signers, terminal);
    return { json: { id, ok: true, envelope }, text };
  }

  #explain({ envelope }: ActionReport): void {
    const { id, status } = envelope;
    const now = `it is ${status ?? 'changed'}`;
    this.#context.terminal.notice(`The response for ${id} was lost, but the request succeeded: ${now}.`);
  }
}

/** Nothing needed to be done, which is success. In a pipe, a notice says why. */
export function skippedItem(id: string, reason: NothingToDoError, { terminal }: Context): ItemResult {
  const json = { id, ok: true, skipped: reason.code };
  const why = sentenceOf(reason);
  if (terminal.outIsTty) return { json, text: `${safeLine(`Skipped ${id}: ${why}`)}\n` };
  if (!terminal.json) terminal.notice(why);
  return { json, text: `${safeLine(id)}\t${reason.code}\n` };
}
