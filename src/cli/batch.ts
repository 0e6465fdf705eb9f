import { counted } from '../kernel/duration.ts';
import { PartialError } from '../kernel/errors.ts';
import { writeJsonLine } from '../output/json.ts';
import { safeLine } from '../output/text.ts';
import { errorText, reportOf } from './error-report.ts';
import type { Context } from './session/context.ts';

export interface ItemResult {
  /** Its line with --json. */
  json: unknown;
  /** Its row on stdout, if any. */
  text?: string | undefined;
  /** The reason for its failure, or an error to be shown after the item's name. */
  failure?: string | { error: unknown; label?: string } | undefined;
}

export interface BatchOptions {
  /** Hides the progress line while a row is written. */
  aside?: (write: () => Promise<void> | void) => Promise<void> | void;
  /** Whether the results are secrets that the user asked for, such as links. */
  secret?: boolean;
  /** Whether the command fails with the first error if all items fail. That error is then reported only once. */
  ownError?: boolean;
}

/**
 * Reports results one at a time, without secrets: a row or a JSON line for each, and failures on stderr. A failure that
 * occurs repeatedly is reported once.
 */
export class Batch {
  failed = 0;
  readonly #context: Context;
  readonly #options: BatchOptions;
  #done = 0;
  #first: { error: unknown } | undefined;
  #held: string | undefined;
  #lastReport: string | undefined;

  constructor(context: Context, options: BatchOptions = {}) {
    this.#context = context;
    this.#options = options;
  }

  async report(outcome: ItemResult): Promise<void> {
    const { aside = (write) => write() } = this.#options;
    const { text, failure } = outcome;
    if (failure === undefined) this.#done++;
    else this.failed++;
    if (typeof failure === 'object') this.#first ??= { error: failure.error };
    const isSilent = text === undefined && failure === undefined && this.#held === undefined;
    if (this.#context.terminal.json || !isSilent) await aside(() => this.#write(outcome));
  }

  async #write({ json, text, failure }: ItemResult): Promise<void> {
    const context = this.#context;
    const isSecret = this.#options.secret === true && failure === undefined;
    if (context.terminal.json)
      return isSecret ? writeJsonLine(json, context.terminal) : context.terminal.jsonLine(json);
    if (failure !== undefined) this.#report(failure);
    else this.#release();
    if (text !== undefined) await (isSecret ? context.terminal : context.terminal.hidingSecrets()).out(text);
  }

  #report(failure: NonNullable<ItemResult['failure']>): void {
    const words = this.#textOf(failure);
    if (words === this.#lastReport) return;
    this.#lastReport = words;
    if (this.#options.ownError && this.#done === 0 && this.#held === undefined && this.failed === 1)
      this.#held = words;
    else this.#context.terminal.err(words);
  }

  #textOf(failure: NonNullable<ItemResult['failure']>): string {
    const { terminal } = this.#context;
    const { redactor, account } = terminal;
    if (typeof failure === 'string') return redactor.redact(failure);
    const { label, error } = failure;
    const isNamed = label === undefined || reportOf(error).message.includes(label);
    const name = isNamed ? '' : `${redactor.redact(safeLine(label))}: `;
    return `${name}${errorText(error, { json: false, redactor, style: terminal.styleErr, account })}`;
  }

  /** Reports the first failure, which was withheld in case all items fail. */
  #release(): void {
    if (this.#held !== undefined) this.#context.terminal.err(this.#held);
    this.#held = undefined;
  }

  /** @throws PartialError if some items failed; the error of the first item if all failed and `ownError` is set. */
  end(of: number, what?: string): void {
    if (this.failed === 0) return;
    if (this.#options.ownError && this.failed === of && this.#first !== undefined) throw this.#first.error;
    this.#release();
    const all = what === undefined ? String(of) : counted(of, what);
    throw new PartialError(`${this.failed} of ${all} failed. The errors are shown above.`);
  }
}
