import { durationInWords, grouped } from '../../../kernel/duration.ts';
import { startCountdown } from '../../../output/countdown.ts';
import { plainLines, type Spinner } from '../../../output/spinner.ts';
import { safeLine, truncate } from '../../../output/text.ts';
import { waitingIndicator } from '../../../output/waiting-indicator.ts';
import type { Context } from '../../../session/context.ts';
import type { RunState } from '../../run-state.ts';

const TICK_MS = 200;
/** Waits shorter than this are not reported. */
const SHORT_WAIT_MS = 1_000;
/** Waits longer than this are reported even with --json. */
const LONG_WAIT_MS = 60_000;

/**
 * Shows the progress of a run: a live line on a terminal's stderr; otherwise, a line for each wait or outage, and an occasional
 * progress line.
 */
export class BulkProgress {
  readonly #context: Context;
  readonly #live: boolean;
  #state: RunState | undefined;
  #startedAt = 0;
  #before = 0;
  #timer: NodeJS.Timeout | undefined;
  #lines: Spinner | undefined;
  #waiting: { why: string; until: number } | undefined;
  #searching: string | undefined;
  #rateLimitMs: (rows: number) => number = () => 0;
  #release: () => void = () => undefined;

  constructor(context: Context) {
    this.#context = context;
    const { errIsTty, still } = context.terminal;
    this.#live = errIsTty && !still && !context.terminal.json && Boolean(process.stderr.columns);
  }

  /** Starts showing progress. `byWindow` returns how long a number of rows takes because of the rate window, in ms. */
  start(state: RunState, byWindow: (rows: number) => number): void {
    this.#state = state;
    this.#release = waitingIndicator.hold();
    this.#rateLimitMs = byWindow;
    this.#startedAt = performance.now();
    this.#before = state.finishedCount;
    if (this.#live) this.#timer = setInterval(() => this.#draw(), TICK_MS).unref();
    else if (!this.#context.terminal.json) this.#reportPeriodically();
  }

  /** Shows that the rate window or the service makes all requests wait, for this many ms. */
  waitsFor(why: string, ms: number): void {
    const now = Date.now();
    if (ms < SHORT_WAIT_MS || (this.#waiting !== undefined && this.#waiting.until > now)) return;
    this.#waiting = { why: this.#context.terminal.redactor.redact(why), until: now + ms };
    if (this.#live) return;
    const { terminal } = this.#context;
    if (!terminal.json) startCountdown(this.#waiting.why, ms, terminal);
    else if (ms > LONG_WAIT_MS) terminal.notice(`${this.#waiting.why} Continuing in ${durationInWords(ms)}.`);
  }

  /** Shows a message to the user. With --json, shows it only if it explains a long wait or reports a loss. */
  notice(text: string, { waitMs = 0, isLost = false } = {}): void {
    if (!this.#context.terminal.json || waitMs >= LONG_WAIT_MS || isLost)
      void this.aside(() => this.#context.terminal.notice(text));
  }

  /** Shows that the run reads the service's list, and why; undefined once it works on rows again. */
  searches(why: string | undefined): void {
    this.#searching = why;
  }

  /** Removes the line from the screen while something else is written, and draws it again. */
  aside(write: () => Promise<void> | void): Promise<void> | void {
    if (!this.#live) return write();
    this.#clear();
    const written = write();
    if (written === undefined) return this.#draw();
    return written.then(() => this.#draw());
  }

  end(): void {
    clearInterval(this.#timer);
    this.#lines?.stop();
    this.#clear();
    this.#state = undefined;
    this.#release();
  }

  #reportPeriodically(): void {
    const lines = plainLines(this.#text(), this.#context.terminal);
    this.#lines = lines;
    this.#timer = setInterval(() => lines.text(this.#text()), TICK_MS).unref();
  }

  /** Overwrites the line without clearing it first, so that it doesn't flicker. */
  #draw(): void {
    if (this.#state === undefined) return;
    const line = truncate(this.#text(), process.stderr.columns - 1);
    this.#context.terminal.err(`\r${line}\u001b[K`);
  }

  #clear(): void {
    if (this.#live) this.#context.terminal.err('\r\u001b[K');
  }

  #text(): string {
    const state = this.#state;
    if (state === undefined) return '';
    const [done, failed] = [state.count('done'), state.count('failed')];
    const total = state.lastBegun - state.countBegun('existing');
    return progressText({
      total,
      done,
      failed,
      finishedNow: state.finishedCount - this.#before,
      elapsedMs: performance.now() - this.#startedAt,
      sends: state.head.mode !== 'draft',
      searching: this.#searching,
      waiting:
        this.#waiting === undefined
          ? undefined
          : { why: this.#waiting.why, ms: this.#waiting.until - Date.now() },
      rateLimitMs: this.#rateLimitMs(total - done - failed),
    });
  }
}

export interface RunProgress {
  total: number;
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
  const { total, done, failed, finishedNow, elapsedMs, searching, waiting } = progress;
  const parts = [`${grouped(done)} of ${grouped(total)} ${progress.sends ? 'sent' : 'created'}`];
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
