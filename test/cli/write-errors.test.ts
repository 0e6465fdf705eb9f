import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { announceSearch } from '../../src/cli/outcome-check.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const shown: string[] = [];
const terminal = {
  errIsTty: false,
  notice: (text: string) => {
    shown.push(text);
  },
  showWaiting: () => () => undefined,
};

it('prints a line in a pipe if a search for an envelope takes half a second, and none if it is shorter', () => {
  announceSearch(terminal)();
  vi.advanceTimersByTime(60_000);
  expect(shown).toEqual([]);
  const done = announceSearch(terminal);
  vi.advanceTimersByTime(500);
  expect(shown).toEqual(['Searching for the envelope (up to a minute)…']);
  done();
  vi.advanceTimersByTime(60_000);
  expect(shown).toHaveLength(1);
});
