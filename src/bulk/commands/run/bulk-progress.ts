import type { Context } from '../../../cli/session/context.ts';
import { durationInWords, grouped } from '../../../kernel/duration.ts';
import { type Spinner, startSpinner } from '../../../output/spinner.ts';
import { safeLine } from '../../../output/text.ts';
import type { RunState } from '../../../runs/run-state.ts';

const TICK_MS = 200;
/** Waits shorter than this are not reported. */
const SHORT_WAIT_MS = 1_000;

/**
 * Shows the progress of a run: a live line on a terminal's stderr; otherwise, a line for each wait or outage, and an occasional
 * progress line.
 */
export class BulkProgress {
  readonly #context: Context;
  #spinner: Spinner | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waiting: { why: string; until: number } | undefined;
  #searching: string | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Starts showing progress. `byWindow` returns how long a number of rows takes because of the rate window, in ms. */
  async start(state: RunState, byWindow: (rows: number) => number): Promise<void> {
    const startedAt = performance.now();
    const before = state.finishedCount;
    const text = () => {
      const [done, failed] = [state.count('done'), state.count('failed')];
      const total = state.lastBegun - state.countBegun('existing');
      return progressText({
        total,
        drafts:
          state.head.mode !== 'draft' && state.countBegun('pending') > 0
            ? state.count('reserved')
            : undefined,
        done,
        failed,
        finishedNow: state.finishedCount - before,
        elapsedMs: performance.now() - startedAt,
        sends: state.head.mode !== 'draft',
        searching: this.#searching,
        waiting: this.#waiting && { why: this.#waiting.why, ms: this.#waiting.until - Date.now() },
        rateLimitMs: byWindow(total - done - failed),
      });
    };
    const { terminal } = this.#context;
    const spinner = await startSpinner(text(), terminal, terminal.json);
    this.#spinner = spinner;
    this.#timer = setInterval(() => spinner.text(text()), TICK_MS).unref();
  }

  /** Shows that the rate window or the service makes all requests wait, for this many ms. */
  waitsFor(why: string, ms: number): void {
    const now = Date.now();
    if (ms < SHORT_WAIT_MS || (this.#waiting !== undefined && this.#waiting.until > now)) return;
    const { terminal } = this.#context;
    this.#waiting = { why: terminal.redactor.redact(why), until: now + ms };
    const isShown = this.#spinner !== undefined && terminal.errIsTty && !terminal.still && !terminal.json;
    if (!isShown) this.notice(`${this.#waiting.why} Continuing in ${durationInWords(ms)}.`);
  }

  /** Shows a message to the user. */
  notice(text: string): void {
    void this.aside(() => this.#context.terminal.notice(text));
  }

  /** Shows that the run reads the service's list or waits, and why; undefined once it works on rows again. `msLeft`: how much longer. */
  waits(why: string | undefined, msLeft?: number): void {
    if (why !== undefined && msLeft !== undefined) this.waitsFor(why, msLeft);
    else this.#searching = why;
  }

  /** Hides the line while something else is written. */
  aside(write: () => Promise<void> | void): Promise<void> | void {
    return this.#spinner === undefined ? write() : this.#spinner.aside(write);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#spinner?.stop();
    this.#spinner = undefined;
  }
}

export interface RunProgress {
  total: number;
  /** The number of drafts, as long as not all are created. Nobody is emailed before. */
  drafts: number | undefined;
  done: number;
  failed: number;
  /** Number of rows that this process finished in `elapsedMs`. */
  finishedNow: number;
  elapsedMs: number;
  sends: boolean;
  /** How long the remaining rows take because of the rate window, in ms. */
  rateLimitMs: number;
  /** Why the run reads the list, if it does. */
  searching: string | undefined;
  /** Why requests wait, and how much longer. */
  waiting: { why: string; ms: number } | undefined;
}

/** Returns the line that shows a run's progress: `123 of 200 sent, 2 failed, 42 a second, 2 seconds left`. */
export function progressText(progress: RunProgress): string {
  const { total, drafts, done, failed, finishedNow, elapsedMs, searching, waiting } = progress;
  const what = drafts === undefined ? (progress.sends ? 'sent' : 'created') : 'drafts created';
  const parts = [`${grouped(drafts ?? done)} of ${grouped(total)} ${what}`];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  const perSecond = finishedNow / Math.max(0.001, elapsedMs / 1_000);
  const left = total - done - failed;
  // The time comes before the reason, which a narrow terminal may cut off.
  if (waiting !== undefined && waiting.ms > 0)
    parts.push(`waiting ${durationInWords(waiting.ms)}: ${waiting.why}`);
  else if (searching !== undefined) parts.push(searching);
  else if (finishedNow > 0) {
    parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))} a second`);
    if (left > 0)
      parts.push(`${durationInWords(Math.max((left / perSecond) * 1_000, progress.rateLimitMs))} left`);
  }
  return safeLine(parts.join(', '));
}
