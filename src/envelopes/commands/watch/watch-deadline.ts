import { MAX_COPIED_IDS, rebuildCommand } from '../../../cli/rebuild-command.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { durationInWords } from '../../../kernel/duration.ts';
import { WaitTimeoutError } from '../../../kernel/errors.ts';

/** Returns how to continue a watch. `words`: the command as typed. */
export function continueHint(words: readonly string[], ids: readonly string[], fromStdin: boolean): string {
  if (!fromStdin) return `To continue, run \`${rebuildCommand(words)}\`.`;
  return ids.length > MAX_COPIED_IDS
    ? 'To continue, run the same command with the same IDs.'
    : `To continue, run \`${rebuildCommand(words, { own: ['-'], ids })}\`.`;
}

/** Returns a signal that aborts with a WaitTimeoutError after this time, if any. */
export function deadlineAfter(ms: number | undefined, hint: string): { signal: AbortSignal; stop(): void } {
  const [deadline, stopped] = [new AbortController(), new AbortController()];
  const expire = () =>
    deadline.abort(new WaitTimeoutError(`Timed out after ${durationInWords(ms ?? 0)}.`, { hint }));
  if (ms !== undefined) systemClock.sleep(ms, stopped.signal).then(expire, () => undefined);
  return { signal: deadline.signal, stop: () => stopped.abort() };
}
