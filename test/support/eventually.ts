import { vi } from 'vitest';

/**
 * Waits until `check` passes, and returns its value. Only a failing test reaches the limit, which is just below the time limit
 * of a unit test.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 50_000, interval: 25 });
}
