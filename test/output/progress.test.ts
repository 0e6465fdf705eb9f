import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Progress, startProgress } from '../../src/output/progress.ts';
import { processTerminal } from '../../src/output/terminal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The progress text without animation, this many seconds after the start. */
async function said(progress: Partial<Progress>, seconds: number): Promise<string> {
  const lines: string[] = [];
  const terminal = {
    ...processTerminal({}, { ESIGN_NO_SPINNER: '1' }),
    errIsTty: true,
    err: (text: string) => void lines.push(text),
  };
  const none = { files: 1, done: 0, failed: 0, bytes: 0 };
  const startedAt = Date.now() - seconds * 1_000;
  (await startProgress({ ...none, ...progress, startedAt }, terminal, false)).stop();
  return lines.join('');
}

const MB = 1_000_000;
it.each<[string, Partial<Progress>, number, string]>([
  ['nothing for one file', {}, 5, 'Fetching  0 B\n'],
  ['no rate in the first second', { bytes: MB }, 0.9, 'Fetching  1.0 MB\n'],
  ['the rate of one file', { bytes: 20 * MB }, 10, 'Fetching  20.0 MB  2.0 MB/s\n'],
  [
    'the number of files and failures',
    { files: 8_000, done: 8, failed: 2, bytes: 8 * MB },
    8,
    '8 of 8,000 files  2 failed  8.0 MB  1.0 MB/s\n',
  ],
])('shows progress: %s', async (_, progress, seconds, text) => {
  expect(await said(progress, seconds)).toBe(text);
});
