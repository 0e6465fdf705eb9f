import { counted } from '../kernel/duration.ts';
import { PartialError } from '../kernel/errors.ts';
import { writeJsonLine } from '../output/json.ts';
import { safeLine } from '../output/text.ts';
import type { Context } from './context.ts';
import { errorText, reportOf } from './report.ts';

/** What came of one item. */
export interface Outcome {
  /** Its JSON line. */
  json: unknown;
  /** Its row on stdout, where it has one. */
  text?: string | undefined;
  /** Why it failed: in words, or as an error with the item's name before it. */
  failure?: string | { error: unknown; label?: string } | undefined;
}

export interface BatchOptions {
  /** Takes a line of progress off the screen meanwhile. */
  aside?: (write: () => Promise<void> | void) => Promise<void> | void;
  /** The results are secrets that were asked for, such as links. */
  secret?: boolean;
  /** Where all fail, the first one's error is what the command ends with, and is said there only. */
  ownError?: boolean;
}

/**
 * The only reporter of results that come one by one: a row or a JSON line each, as they come, failures in words on
 * stderr, no secret in any. The same failure twice in a row is said once.
 */
export class Batch {
  failed = 0;
  readonly #context: Context;
  readonly #options: BatchOptions;
  #done = 0;
  #first: { error: unknown } | undefined;
  #held: string | undefined;
  #said: string | undefined;

  constructor(context: Context, options: BatchOptions = {}) {
    this.#context = context;
    this.#options = options;
  }

  async report(outcome: Outcome): Promise<void> {
    const { aside = (write) => write() } = this.#options;
    const { failure } = outcome;
    if (failure === undefined) this.#done++;
    else this.failed++;
    if (typeof failure === 'object') this.#first ??= { error: failure.error };
    await aside(() => this.#write(outcome));
  }

  async #write({ json, text, failure }: Outcome): Promise<void> {
    const context = this.#context;
    const isSecret = this.#options.secret === true && failure === undefined;
    if (context.terminal.json)
      return isSecret ? writeJsonLine(json, context.terminal) : context.terminal.jsonLine(json);
    if (failure !== undefined) this.#complain(failure);
    else this.#release();
    if (text !== undefined) await (isSecret ? context.terminal : context.terminal.hidingSecrets()).out(text);
  }

  #complain(failure: NonNullable<Outcome['failure']>): void {
    const words = this.#wordsOf(failure);
    if (words === this.#said) return;
    this.#said = words;
    if (this.#options.ownError && this.#done === 0 && this.#held === undefined && this.failed === 1)
      this.#held = words;
    else this.#context.terminal.err(words);
  }

  #wordsOf(failure: NonNullable<Outcome['failure']>): string {
    const { terminal } = this.#context;
    const { redactor } = terminal;
    if (typeof failure === 'string') return redactor.redact(failure);
    const { label, error } = failure;
    const isNamed = label === undefined || reportOf(error).message.includes(label);
    const name = isNamed ? '' : `${redactor.redact(safeLine(label))}: `;
    return `${name}${errorText(error, { json: false, redactor, style: terminal.styleErr })}`;
  }

  /** Not all have failed, so that what was held back is said here. */
  #release(): void {
    if (this.#held !== undefined) this.#context.terminal.err(this.#held);
    this.#held = undefined;
  }

  /** @throws PartialError when some failed; with `ownError`, and when all did, the first one's error. */
  end(of: number, what?: string): void {
    if (this.failed === 0) return;
    if (this.#options.ownError && this.failed === of && this.#first !== undefined) throw this.#first.error;
    this.#release();
    const all = what === undefined ? String(of) : counted(of, what);
    throw new PartialError(`${this.failed} of ${all} failed; each is reported above.`);
  }
}
