import { RESERVE } from '../../../api/limits.ts';
import { rebuildCommand } from '../../../cli/rerun.ts';
import { durationInWords } from '../../../kernel/duration.ts';
import { WaitTimeoutError } from '../../../kernel/errors.ts';
import type { Pacing } from '../../../session/session.ts';

/** The share of the rate limit to leave for other programs. A longer wait is reported as an outage. */
export const WATCH_PACING: Pacing = { reserve: RESERVE, maxWaitMs: 2_000, onWait: () => undefined };

/** The most IDs to show in a command that is meant to be copied. */
const MAX_IDS = 20;

/** The longest possible timer, in ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns how to continue a watch. `words`: the command as typed. */
export function continueHint(words: readonly string[], ids: readonly string[], fromStdin: boolean): string {
  if (!fromStdin) return `To continue, run \`${rebuildCommand(words)}\`.`;
  return ids.length > MAX_IDS
    ? 'To continue, run the same command with the same IDs.'
    : `To continue, run \`${rebuildCommand(words, { own: ['-'], ids })}\`.`;
}

/** Aborts with a WaitTimeoutError after a time that may be longer than a timer can run. */
export function deadlineAfter(ms: number | undefined, hint: string): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (left: number) => {
    timer = setTimeout(
      () => {
        if (left > MAX_TIMER_MS) return wait(left - MAX_TIMER_MS);
        controller.abort(
          new WaitTimeoutError(`Timed out after ${durationInWords(ms ?? 0)}.`, {
            hint,
          }),
        );
      },
      Math.min(left, MAX_TIMER_MS),
    );
  };
  if (ms !== undefined) wait(ms);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}
