import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { plainLines } from '../../src/output/spinner.ts';
import { processTerminal } from '../../src/output/terminal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The output on a terminal, or in a log. */
function listen(errIsTty: boolean) {
  const said: string[] = [];
  const terminal = { ...processTerminal({}), errIsTty, err: (text: string) => void said.push(text) };
  return { said, lines: plainLines('0 of 3 files\u001b[2J', terminal) };
}

describe('progress lines', () => {
  it('are printed immediately on a terminal, and again only after a change', () => {
    const { said, lines } = listen(true);
    expect(said).toEqual(['0 of 3 files␛[2J\n']);
    vi.advanceTimersByTime(60_000);
    expect(said).toHaveLength(1);
    lines.text('1 of 3 files');
    lines.text('2 of 3 files');
    expect(said).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    expect(said[1]).toBe('2 of 3 files\n');
    lines.stop();
    lines.text('3 of 3 files');
    vi.advanceTimersByTime(60_000);
    expect(said).toHaveLength(2);
  });

  it('are not printed in a log unless it takes long', () => {
    const { said, lines } = listen(false);
    lines.text('1 of 3 files');
    vi.advanceTimersByTime(29_000);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(said).toEqual(['1 of 3 files\n']);
    lines.stop();
  });
});
