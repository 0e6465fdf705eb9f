import { rebuildCommand } from '../../../cli/rebuild-command.ts';
import { EarlierUnknownError, sentenceOf, UnknownOutcomeError } from '../../../kernel/errors.ts';
import { halfwayError } from '../../../kernel/halfway-error.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import type { ReplaceEvent } from '../../replace/execute-replacement.ts';
import type { ReplacementPlan } from '../../replace/plan-replacement.ts';

/** Describes the progress of a replacement, for when it is interrupted. */
export class ReplaceProgress {
  readonly #old: string;
  readonly #status: string;
  readonly #words: readonly string[];
  readonly #left: ReplacementPlan['steps'][number][];
  #made: string | undefined;
  #isCancelled = false;
  /** Whether this process has completed a step. */
  #isBegun = false;

  constructor({ old, made, steps }: ReplacementPlan, words: readonly string[]) {
    this.#old = old.id;
    this.#status = old.status ?? 'unknown';
    this.#made = made?.id;
    this.#left = [...steps];
    this.#words = words;
  }

  take({ type, envelope }: ReplaceEvent): void {
    this.#isBegun = true;
    this.#left.shift();
    if (type === 'made') this.#made = envelope.id;
    if (type === 'cancelled') this.#isCancelled = true;
  }

  /** Explains a step whose response was lost. */
  explain(event: ReplaceEvent): string | undefined {
    const { type, envelope } = event;
    if (event.by === 'reply') return undefined;
    const what =
      type === 'made' ? 'the draft was created' : `the request succeeded: it is ${envelope.status ?? type}`;
    return type === 'cancelled' && envelope.status !== 'CANCELLED'
      ? `${envelope.id} ended in the meantime: it is ${envelope.status ?? 'unknown'}.`
      : `The response for ${envelope.id} was lost, but ${what}.`;
  }

  /** Returns what is known if the process ends now. */
  unknown(): string {
    return `Interrupted before the service responded. ${this.#open()}`;
  }

  hint(): string {
    return `To continue, run \`${rebuildCommand(this.#words)}\`. Completed steps are not repeated.`;
  }

  /** Adds the progress and a hint to an error. */
  errorOf(error: unknown, signal: AbortSignal): unknown {
    if (error instanceof UnknownOutcomeError) {
      const text = `${sentenceOf(error)} ${this.#open()}`;
      return error instanceof EarlierUnknownError
        ? new EarlierUnknownError(text, { cause: error, hint: this.#withoutReplace() })
        : new UnknownOutcomeError(text, { cause: error });
    }
    if (this.#made === undefined) return error;
    const outcome = this.#isBegun ? 'unknown' : 'none';
    return halfwayError(error, { state: this.#currentStatus(), outcome, hint: this.hint() }, signal);
  }

  /** Returns how to replace the envelope without this command, whose request ID is always the same. */
  #withoutReplace(): string {
    const list = command('envelopes', 'list', '--status', 'draft');
    const cancel = this.#left.includes('cancel') ? `, and cancel ${this.#old}` : '';
    return `Look for the draft with \`${list}\`. If it doesn't exist, create the new envelope with \`esign envelopes create\`${cancel}.`;
  }

  #open(): string {
    const [next] = this.#left;
    if (next === 'make' || this.#made === undefined)
      return `A draft that replaces ${this.#old} may exist. ${this.#old} is unchanged (${this.#status}).`;
    if (next === 'cancel') return `${this.#made} is a draft. ${this.#old} may or may not have been canceled.`;
    if (next === 'send') return `${this.#oldStatusText()}. ${this.#made} may or may not have been sent.`;
    return `${this.#oldStatusText()}, and was replaced by ${this.#made}.`;
  }

  #currentStatus(): string {
    return `${this.#made} is a draft, and ${this.#oldStatusText()}.`;
  }

  #oldStatusText(): string {
    return `${this.#old} is ${this.#isCancelled ? 'canceled' : `unchanged (${this.#status})`}`;
  }
}
