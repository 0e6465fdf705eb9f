import type { Signer } from '../api/resource-types.ts';
import { type TurnFields, turnsOf } from '../catalog/turns.ts';

/** When reminders are due. */
export interface ReminderSteps {
  /** The times (ms) after the turn began. */
  steps: readonly number[];
  /** A step that falls on a weekend waits until Monday, and no step is due on a weekend, not even a missed one. */
  onWeekdays: boolean;
}

/**
 * Returns the open turns for which a reminder is due, and when (ms): at the greatest step that the turn has lasted. Weekends are those
 * of the local time zone.
 */
export function dueTurns(
  envelope: TurnFields,
  { steps, onWeekdays }: ReminderSteps,
  now: number,
): { signer: Signer; dueAt: number }[] {
  if (onWeekdays && isWeekend(now)) return [];
  const ascending = [...steps].sort((a, b) => a - b);
  return turnsOf(envelope).flatMap(({ signer, beganAt, state }) => {
    if (state !== 'open') return [];
    const times = ascending.map((step) => beganAt + step);
    const dueAt = (onWeekdays ? times.map(timeOnWeekday) : times).findLast((time) => time <= now);
    return dueAt === undefined ? [] : [{ signer, dueAt }];
  });
}

/** Returns true for a time (ms) on a Saturday or Sunday, in the local time zone. */
function isWeekend(at: number): boolean {
  return WEEKEND.has(new Date(at).getDay());
}

/** Returns the time (ms), or for a weekend the same local time of the Monday after it. */
function timeOnWeekday(at: number): number {
  const date = new Date(at);
  while (isWeekend(date.getTime())) date.setDate(date.getDate() + 1);
  return date.getTime();
}

/** Sunday and Saturday, as `getDay` counts. */
const WEEKEND: ReadonlySet<number> = new Set([0, 6]);
