import type { Clock } from '../../src/kernel/clock.ts';
import { EsignError } from '../../src/kernel/errors.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import type { Behavior, Fate } from './service-behavior.ts';

/* What ends a write without an outcome. */

/** Returns the error code of an attempt, or `ok`. */
export function codeOf(doing: Promise<unknown>): Promise<string> {
  return doing.then(
    () => 'ok',
    (error: unknown) => (error instanceof EsignError ? error.code : String(error)),
  );
}

/** The first write ends this way, and all others are answered. */
export function firstOnly(fate: Fate): NonNullable<Behavior['fateOf']> {
  return ({ number }) => (number === 1 ? fate : 'ok');
}

/**
 * A process that is killed once its first request was answered, before it could record the outcome: it appends nothing more, and ends
 * when it waits.
 */
export function killedProcess(memory: WriteMemory, clock: Clock): { memory: WriteMemory; time: Clock } {
  const killed = () => Promise.reject(new Error('killed'));
  let isKilled = false;
  return {
    time: { now: () => clock.now(), sleep: (ms, signal) => (isKilled ? killed() : clock.sleep(ms, signal)) },
    memory: {
      find: (keys) => memory.find(keys),
      append: (records) => {
        isKilled ||= records.some(({ type }) => type !== 'intent');
        return isKilled ? killed() : memory.append(records);
      },
    },
  };
}
