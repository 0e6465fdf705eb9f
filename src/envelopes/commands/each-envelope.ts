import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { Batch, type ItemResult } from '../../cli/batch.ts';
import { reportOf } from '../../cli/error-report.ts';
import type { Ids } from '../../cli/input/ids.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { listed } from '../../kernel/duration.ts';
import {
  EsignError,
  GuardError,
  JournalError,
  RemindedRecentlyError,
  StoppedError,
  sentenceOf,
  UnknownOutcomeError,
} from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { writeJson } from '../../output/json.ts';
import { safeLine } from '../../output/text.ts';
import type { Context } from '../../session/context.ts';
import { withHint, withOutcomeCheck } from './write-errors.ts';

/** The texts for a write, and what to run if its outcome is unknown. */
export interface BatchAction {
  /** The past participle, such as `sent`. */
  done: string;
  /** Returns the hint for an envelope whose outcome is unknown. */
  ifUnknown: (id: string) => string;
  /** Returns the command that continues with these IDs and repeats nothing. */
  again: (ids: readonly string[]) => string;
}

/** `by`: the response or, after a lost response, the envelope's status. */
interface Done {
  envelope: Envelope;
  by?: 'reply' | 'lookup';
}

export interface EachOptions<T extends Done> {
  ids: Ids;
  act: (id: string) => Promise<T>;
  show: (done: T) => string | Promise<string>;
  /** For writes: everything that was sent is reported, even after an interrupt. */
  action?: BatchAction;
}

/**
 * Runs an action for each ID. For one ID, prints the result or throws its error. For several, tries all of them and prints a
 * row or a JSON line for each, in the given order; if some fail, the exit code is 10.
 */
export async function forEachId<T extends Done>(options: EachOptions<T>, context: Context): Promise<void> {
  const { ids, action } = options;
  const [only] = ids.ids;
  const work = new BatchWork(options, context);
  const run = () => (!ids.stream && only !== undefined ? work.runOne(only) : work.runAll());
  if (action === undefined) return run();
  return withOutcomeCheck(
    { unknown: () => work.unknown(action), hint: () => work.next(action) },
    context,
    run,
  );
}

type Attempt<T> = { id: string } & ({ done: T } | { skipped: RemindedRecentlyError } | { error: unknown });

class BatchWork<T extends Done> {
  readonly #options: EachOptions<T>;
  readonly #context: Context;
  /** `left`: not started because the command was stopped. `done`: not reported yet. Absent: not started yet. */
  readonly #states = new Map<string, 'left' | 'begun' | 'done' | 'reported'>();
  #skipped = 0;

  constructor(options: EachOptions<T>, context: Context) {
    this.#options = options;
    this.#context = context;
  }

  async runOne(id: string): Promise<void> {
    const { act, show } = this.#options;
    const { terminal } = this.#context;
    const { json } = terminal;
    this.#states.set(id, 'begun');
    const done = await act(id).catch((error: unknown) => {
      if (error instanceof RemindedRecentlyError) return error;
      throw error;
    });
    this.#states.set(id, 'done');
    if (done instanceof RemindedRecentlyError) {
      await (json ? writeJson(skipJson(id, done), terminal) : terminal.out(this.#skipText(id, done)));
      return void this.#states.set(id, 'reported');
    }
    explain(done, terminal);
    const out = terminal.hidingSecrets();
    await (json ? writeJson(done.envelope, out) : out.out(await show(done)));
    this.#states.set(id, 'reported');
  }

  async runAll(): Promise<void> {
    const { ids } = this.#options.ids;
    const batch = new Batch(this.#context);
    for await (const attempt of mapInOrder(ids, READ_CONCURRENCY, (id) => this.#attempt(id))) {
      if (attempt === undefined) continue;
      await batch.report(await this.#result(attempt));
      this.#states.set(attempt.id, 'reported');
    }
    const left = this.#idsIn('left');
    if (left.length > 0) throw this.#stopped(left);
    this.#showTotals(batch.failed);
    batch.end(ids.length);
  }

  /** Shows how many were done, skipped, and failed. With --json, the lines are counted by the reader. */
  #showTotals(failed: number): void {
    const { ids, action } = this.#options;
    const { terminal } = this.#context;
    const count = ids.ids.length;
    if (action === undefined || count < 2 || terminal.json) return;
    const done = count - failed - this.#skipped;
    const parts = [
      `${done} ${action.done}`,
      ...(this.#skipped > 0 ? [`${this.#skipped} skipped`] : []),
      ...(failed > 0 ? [`${failed} failed`] : []),
    ];
    terminal.notice(`${parts.join(', ')}.`);
  }

  /** Returns the row of a skipped envelope. In a pipe, a notice says why. */
  #skipText(id: string, reason: RemindedRecentlyError): string {
    const { terminal } = this.#context;
    if (terminal.outIsTty) return `${safeLine(`Skipped ${id}: ${sentenceOf(reason)}`)}\n`;
    terminal.notice(sentenceOf(reason));
    return `${safeLine(id)}\t${reason.code}\n`;
  }

  async #result(attempt: Attempt<T>): Promise<ItemResult> {
    const { id } = attempt;
    if ('error' in attempt) {
      const { error } = attempt;
      const isWrite = this.#options.action !== undefined;
      return { json: { id, ok: false, error: reportOf(error, { isWrite }) }, failure: { label: id, error } };
    }
    if ('skipped' in attempt) {
      this.#skipped++;
      const isJson = this.#context.terminal.json;
      return {
        json: skipJson(id, attempt.skipped),
        text: isJson ? undefined : this.#skipText(id, attempt.skipped),
      };
    }
    const { done } = attempt;
    const { terminal } = this.#context;
    explain(done, terminal);
    const text = terminal.json ? undefined : await this.#options.show(done);
    return { json: { id, ok: true, envelope: done.envelope }, text };
  }

  /** Returns undefined if it was not started. */
  async #attempt(id: string): Promise<Attempt<T> | undefined> {
    const { act, action } = this.#options;
    const { signal } = this.#context.interrupt;
    try {
      if (action) signal.throwIfAborted();
      this.#states.set(id, 'begun');
      const done = await act(id);
      this.#states.set(id, 'done');
      return { id, done };
    } catch (error) {
      if (error instanceof RemindedRecentlyError) {
        this.#states.set(id, 'done');
        return { id, skipped: error };
      }
      if (isOfAll(error) && this.#idsIn('done', 'reported').length === 0) throw error;
      const isStop = signal.aborted && !(error instanceof EsignError);
      if (isStop && !action) throw error;
      this.#states.set(id, isStop ? 'left' : 'done');
      return isStop ? undefined : { id, error: this.#errorOf(id, error) };
    }
  }

  #errorOf(id: string, error: unknown): unknown {
    const { action } = this.#options;
    return action && error instanceof UnknownOutcomeError ? withHint(error, action.ifUnknown(id)) : error;
  }

  #idsIn(...states: readonly ('left' | 'begun' | 'done' | 'reported' | undefined)[]): string[] {
    return this.#options.ids.ids.filter((id) => states.includes(this.#states.get(id)));
  }

  #stopped(left: readonly string[]): StoppedError {
    const { ids, action } = this.#options;
    return new StoppedError('INTERRUPTED', `Stopped: ${left.length} of ${ids.ids.length} were not started.`, {
      hint: action && `To continue with the rest, run \`${action.again(left)}\`.`,
    });
  }

  /** Returns what is unknown or unreported if the process ends now. */
  unknown({ done }: BatchAction): string {
    const open = this.#idsIn('begun');
    const unreported = this.#idsIn('done');
    return [
      `Interrupted before the service responded.`,
      ...(open.length > 0 ? [`${listed(open)} may or may not have been ${done}.`] : []),
      ...(unreported.length > 0
        ? [`The result for ${listed(unreported)} was received but not printed.`]
        : []),
    ].join(' ');
  }

  /** Returns the hint for that case. */
  next({ ifUnknown, again }: BatchAction): string {
    const { ids, stream } = this.#options.ids;
    const [only] = ids;
    if (!stream && only !== undefined) return ifUnknown(only);
    return `To continue, run \`${again(this.#idsIn('begun', 'done', 'left', undefined))}\`.`;
  }
}

/** Returns the JSON line of an envelope for which nothing needed to be done, which is success. */
function skipJson(id: string, { code }: RemindedRecentlyError) {
  return { id, ok: true, skipped: code };
}

/** Returns true for a guard or an unwritable log, which would stop every other write, too. */
function isOfAll(error: unknown): boolean {
  return error instanceof GuardError || error instanceof JournalError;
}

function explain({ envelope, by }: Done, terminal: CommandTerminal): void {
  if (by !== 'lookup') return;
  terminal.notice(
    `The response for ${envelope.id} was lost, but the request succeeded: it is ${envelope.status ?? 'changed'}.`,
  );
}
