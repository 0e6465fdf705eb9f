import { RESERVE } from '../../../api/limits.ts';
import { durationInWords } from '../../../kernel/duration.ts';
import { WaitTimeoutError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import type { Pacing } from '../../../session/session.ts';

/** The share of the rate limit to leave for other programs. A longer wait is reported as an outage. */
export const WATCH_PACING: Pacing = { reserve: RESERVE, maxWaitMs: 2_000, onWait: () => undefined };

/** The most words to show of a command that is meant to be copied. */
const MAX_WORDS = 12;

/** The longest possible timer, in ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts with a WaitTimeoutError after a time that may be longer than a timer can run. */
export function deadlineAfter(
  ms: number | undefined,
  words: readonly string[],
): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (left: number) => {
    timer = setTimeout(
      () => {
        if (left > MAX_TIMER_MS) return wait(left - MAX_TIMER_MS);
        controller.abort(
          new WaitTimeoutError(`Timed out after ${durationInWords(ms ?? 0)}.`, {
            hint: `Continue with: ${command(...words.slice(0, MAX_WORDS))}${words.length > MAX_WORDS ? ' …' : ''}`,
          }),
        );
      },
      Math.min(left, MAX_TIMER_MS),
    );
  };
  if (ms !== undefined) wait(ms);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}
