import { vi } from 'vitest';

/**
 * Waits until `check` passes, and returns its value. Only a failing test reaches the limit, so it is long enough for a machine
 * that stands still for seconds.
 */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 25 });
}
