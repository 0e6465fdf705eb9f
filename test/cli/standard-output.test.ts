import { expect, it } from 'vitest';
import { StandardOutput } from '../../src/cli/boot/standard-output.ts';
import type { Interrupt } from '../../src/cli/interrupt.ts';

const interrupt: Interrupt = {
  signal: new AbortController().signal,
  ifInterrupted: () => () => undefined,
  exitCode: () => undefined,
  interrupt: () => undefined,
  stop: () => undefined,
  finish: () => undefined,
};

it.each([
  ['envelopes:download', 'env_1 --dir archive', true],
  ['envelopes:download', 'env_1 --what signed -o contract.pdf', true],
  ['envelopes:download', 'env_1 --what signed -o -', false],
  ['documents:download', 'key --output=-', false],
  ['envelopes:evidence', 'env_1 --dir evidence', true],
  ['envelopes:send', 'env_1', true],
  ['envelopes:list', '--all', false],
])('loses no result if the reader of stdout goes away: %s %s: %s', (id, words, isKept) => {
  const output = new StandardOutput(interrupt);
  output.prepare(id, words.split(' '));
  expect(output.undelivered !== undefined).toBe(isKept);
});
