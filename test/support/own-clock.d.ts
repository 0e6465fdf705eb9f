import type { Clock } from '../../src/kernel/clock.ts';

export const TEST_CLOCK: symbol;
export function ownClock(): Clock;
