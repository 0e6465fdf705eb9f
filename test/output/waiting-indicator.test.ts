import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WaitingIndicator } from '../../src/output/waiting-indicator.ts';

let written: string;
let sign: WaitingIndicator;
beforeEach(() => {
  vi.useFakeTimers();
  written = '';
  sign = new WaitingIndicator(() => ({
    columns: 80,
    write: (text: string | Uint8Array) => {
      written += String(text);
      return true;
    },
  }));
});
afterEach(() => {
  vi.useRealTimers();
});

const begin = (text = 'Waiting for host', moves = true) =>
  sign.begin({ text, moves, paint: (frame) => frame });
const wait = (ms: number) => vi.advanceTimersByTime(ms);

it('shows nothing if the wait is short', () => {
  const end = begin();
  wait(300);
  end();
  wait(60_000);
  expect(written).toBe('');
});

it('appears within half a second, counts seconds from the third, and is removed at the end', () => {
  const end = begin();
  wait(500);
  expect(written).toMatch(/Waiting for host$/);
  wait(3_000);
  expect(written).toMatch(/… 3 s$/);
  end();
  wait(400);
  expect(written.endsWith('\r\u001b[2K')).toBe(true);
  const before = written;
  wait(60_000);
  expect(written).toBe(before);
});

it('counts requests in quick succession as a single wait', () => {
  for (let request = 0; request < 4; request++) {
    const end = begin();
    wait(200);
    end();
    wait(100);
  }
  expect(written).toContain('Waiting for host');
});

it('is hidden while something else uses the screen, and starts again afterward', () => {
  begin();
  wait(500);
  const release = sign.hold();
  expect(written.endsWith('\r\u001b[2K')).toBe(true);
  const before = written;
  wait(60_000);
  release();
  wait(300);
  expect(written).toBe(before);
  wait(200);
  expect(written).not.toBe(before);
});

it("doesn't erase an unfinished line of other output", () => {
  begin();
  sign.clear('Name: ');
  wait(60_000);
  expect(written).toBe('');
  sign.clear('Ada\n');
  wait(500);
  expect(written).toContain('Waiting');
});

it('is printed once per text where lines cannot be redrawn', () => {
  begin('Waiting for host', false);
  wait(60_000);
  expect(written).toBe('Waiting for host.\n');
});

it('counts a wait after a printed one from its own start', () => {
  const end = begin('Waiting for a person', false);
  wait(60_000);
  end();
  begin();
  wait(1_000);
  expect(written).toContain('Waiting for host');
  expect(written).not.toMatch(/\d+ s/);
});

it('is printed in place of a moving line', () => {
  begin('Checking a file');
  wait(500);
  written = '';
  begin('Waiting for a person', false);
  wait(500);
  expect(written).toBe('\r\u001b[2KWaiting for a person.\n');
});
