import type { Envelope } from '../../api/schemas.ts';
import { Batch, type ItemResult } from '../../cli/batch.ts';
import type { Context } from '../../cli/context.ts';
import type { Ids } from '../../cli/input/ids.ts';
import { reportOf } from '../../cli/report.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { settling, withHint } from '../../cli/write.ts';
import { listed } from '../../kernel/duration.ts';
import {
  EsignError,
  GuardError,
  JournalError,
  StoppedError,
  UnknownOutcomeError,
} from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { writeJson } from '../../output/json.ts';

const CONCURRENCY = 8;
/** For an empty pipe: a filter that matched nothing looks like success otherwise. */
export const NO_IDS = 'No ids were read from stdin, so nothing was done.';

/** What a write does, in words, and what to run when it is not known whether it did. */
export interface BatchAction {
  /** Of an envelope that it was done to: `sent`. */
  done: string;
  /** For an id of which nobody knows whether it was. */
  ifUnknown: (id: string) => string;
  /** Goes on with these ids and does nothing twice. */
  again: (ids: readonly string[]) => string;
}

export interface EachOptions {
  ids: Ids;
  /** `by` tells whether the reply said so or, after a lost reply, the envelope's state. */
  act: (id: string) => Promise<{ envelope: Envelope; by?: 'reply' | 'lookup' }>;
  /** What a person sees of one result. */
  show: (envelope: Envelope) => string | Promise<string>;
  /** For what changes envelopes: nothing that was sent goes unsaid. */
  action?: BatchAction;
}

/**
 * Does one thing to each id. One id: the result, or its error. Several: all are tried, each is a row or a
 * JSON line in the order given, and some failures end in exit code 10.
 */
export async function forEachId(options: EachOptions, context: Context): Promise<void> {
  const { ids, action } = options;
  const [only] = ids.ids;
  if (ids.ids.length === 0) context.terminal.notice(NO_IDS);
  const work = new Work(options, context);
  const run = () => (!ids.stream && only !== undefined ? work.one(only) : work.all());
  if (action === undefined) return run();
  return settling({ unknown: () => work.unknown(action), hint: () => work.next(action) }, context, run);
}

type Result = { id: string; ok: true; envelope: Envelope } | { id: string; ok: false; error: unknown };

interface Attempt {
  result: Result;
  by: 'reply' | 'lookup' | undefined;
}

/** The ids of one command, and how far each is. */
class Work {
  readonly #options: EachOptions;
  readonly #context: Context;
  /** `left` was not begun, since the command was stopped before; `done` is not reported yet. Absent: not begun yet. */
  readonly #states = new Map<string, 'left' | 'begun' | 'done' | 'reported'>();

  constructor(options: EachOptions, context: Context) {
    this.#options = options;
    this.#context = context;
  }

  async one(id: string): Promise<void> {
    const { act, show } = this.#options;
    const { terminal } = this.#context;
    const { json } = terminal;
    this.#states.set(id, 'begun');
    const { envelope, by } = await act(id);
    this.#states.set(id, 'done');
    explain(envelope, by, this.#context.terminal);
    const out = terminal.hidingSecrets();
    await (json ? writeJson(envelope, out) : out.out(await show(envelope)));
    this.#states.set(id, 'reported');
  }

  async all(): Promise<void> {
    const { ids } = this.#options.ids;
    const batch = new Batch(this.#context);
    for await (const attempt of mapInOrder(ids, CONCURRENCY, (id) => this.#attempt(id))) {
      if (attempt === undefined) continue;
      const { result, by } = attempt;
      if (result.ok) explain(result.envelope, by, this.#context.terminal);
      await batch.report(await this.#outcome(result));
      this.#states.set(result.id, 'reported');
    }
    const left = this.#idsIn('left');
    if (left.length > 0) throw this.#stopped(left);
    batch.end(ids.length);
  }

  async #outcome(result: Result): Promise<ItemResult> {
    if (result.ok) {
      const text = this.#context.terminal.json ? undefined : await this.#options.show(result.envelope);
      return { json: result, text };
    }
    const { id, error } = result;
    return { json: { ...result, error: reportOf(error) }, failure: { label: id, error } };
  }

  /** Undefined for one that was not begun. */
  async #attempt(id: string): Promise<Attempt | undefined> {
    const { act, action } = this.#options;
    const { signal } = this.#context.interrupt;
    try {
      if (action) signal.throwIfAborted();
      this.#states.set(id, 'begun');
      const { envelope, by } = await act(id);
      this.#states.set(id, 'done');
      return { result: { id, ok: true, envelope }, by };
    } catch (error) {
      if (isOfAll(error) && this.#idsIn('done', 'reported').length === 0) throw error;
      const isStop = signal.aborted && !(error instanceof EsignError);
      if (isStop && !action) throw error;
      this.#states.set(id, isStop ? 'left' : 'done');
      return isStop
        ? undefined
        : { result: { id, ok: false, error: this.#errorOf(id, error) }, by: undefined };
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
    return new StoppedError('INTERRUPTED', `Stopped: ${left.length} of ${ids.ids.length} were not begun.`, {
      hint: action && `The rest: \`${action.again(left)}\`.`,
    });
  }

  /** What nobody knows should the process have to end now, and what is known and not reported. */
  unknown({ done }: BatchAction): string {
    const open = this.#idsIn('begun');
    const unsaid = this.#idsIn('done');
    return [
      `Ended before the answer came.`,
      ...(open.length > 0 ? [`It is not known whether ${listed(open)} ${was(open)} ${done}.`] : []),
      ...(unsaid.length > 0 ? [`The answer for ${listed(unsaid)} came and was not reported.`] : []),
    ].join(' ');
  }

  /** What to run then. */
  next({ ifUnknown, again }: BatchAction): string {
    const { ids, stream } = this.#options.ids;
    const [only] = ids;
    if (!stream && only !== undefined) return ifUnknown(only);
    return `To go on: \`${again(this.#idsIn('begun', 'done', 'left', undefined))}\`.`;
  }
}

/** Neither a guard nor a log that can't be written will let other writes pass. */
function isOfAll(error: unknown): boolean {
  return error instanceof GuardError || error instanceof JournalError;
}

function was(ids: readonly string[]): string {
  return ids.length === 1 ? 'was' : 'were';
}

function explain(envelope: Envelope, by: Attempt['by'], terminal: CommandTerminal): void {
  if (by !== 'lookup') return;
  terminal.notice(
    `The reply for ${envelope.id} was lost, but it was done: it is ${envelope.status ?? 'changed'}.`,
  );
}
