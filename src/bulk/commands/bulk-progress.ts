import { startCountdown } from '../../output/countdown.ts';
import { plainLines, type Spinner } from '../../output/spinner.ts';
import { truncate } from '../../output/text.ts';
import { waitingIndicator } from '../../output/waiting-indicator.ts';
import type { Context } from '../../session/context.ts';
import type { RunState } from '../run-state.ts';
import { progressText, type RunProgress } from './preflight-text.ts';

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
  #waiting: RunProgress['waiting'];
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
    const isShown = !this.#context.terminal.json || ms > LONG_WAIT_MS;
    if (!this.#live && isShown) startCountdown(this.#waiting.why, ms, this.#context.terminal);
  }

  /** Shows a message to the user. With --json, shows it only if it explains a long wait or reports a loss. */
  notice(text: string, { waitMs = 0, isLost = false } = {}): void {
    if (!this.#context.terminal.json || waitMs >= LONG_WAIT_MS || isLost)
      void this.aside(() => this.#context.terminal.notice(text));
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

  #draw(): void {
    if (this.#state === undefined) return;
    const line = truncate(this.#text(), process.stderr.columns - 1);
    this.#context.terminal.err(`\r\u001b[2K${line}`);
  }

  #text(): string {
    const state = this.#state;
    if (state === undefined) return '';
    const [done, failed] = [state.count('done'), state.count('failed')];
    const total = state.lastBegun - state.countBegun('existing');
    const progress = {
      total,
      done,
      failed,
      finishedNow: state.finishedCount - this.#before,
      elapsedMs: performance.now() - this.#startedAt,
      sends: state.head.mode !== 'draft',
      waiting: this.#waiting,
      rateLimitMs: this.#rateLimitMs(total - done - failed),
    };
    return progressText(progress, Date.now());
  }

  #clear(): void {
    if (this.#live) this.#context.terminal.err('\r\u001b[2K');
  }
}
