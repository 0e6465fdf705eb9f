import { RESERVE } from '../../../api/defaults.ts';
import type { Pacing } from '../../../cli/session.ts';
import { durationInWords } from '../../../kernel/duration.ts';
import { WaitTimeoutError } from '../../../kernel/errors.ts';
import { command } from '../../../kernel/text/shell-words.ts';

/** What is left of the rate window for the customer's own systems; a longer wait for it is told like an outage. */
export const WATCH_PACING: Pacing = { reserve: RESERVE, maxWaitMs: 2_000, onWait: () => undefined };

/** More words make no command that anyone copies. */
const WORDS_SHOWN = 12;

/** The longest timer there is. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Aborts with a WaitTimeoutError after so long, which may be longer than a timer can run. */
export function deadlineAfter(
  ms: number | undefined,
  words: readonly string[],
): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (left: number) => {
    timer = setTimeout(
      () => {
        if (left > LONGEST_TIMER_MS) return wait(left - LONGEST_TIMER_MS);
        controller.abort(
          new WaitTimeoutError(`Gave up after ${durationInWords(ms ?? 0)}.`, {
            hint: `Continue with: ${command(...words.slice(0, WORDS_SHOWN))}${words.length > WORDS_SHOWN ? ' …' : ''}`,
          }),
        );
      },
      Math.min(left, LONGEST_TIMER_MS),
    );
  };
  if (ms !== undefined) wait(ms);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}
