import { afterAll, expect, it } from 'vitest';
import { watchSignals } from '../../src/cli/interrupt.ts';

// To be stopped by a signal, a process removes all listeners, also those that others added.
const others = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
  (signal) => [signal, process.listeners(signal)] as const,
);
afterAll(() => {
  for (const [signal, listeners] of others)
    for (const one of listeners) if (!process.listeners(signal).includes(one)) process.on(signal, one);
});

it.each([
  ['linux', 42, 'SIGINT', 'raised SIGINT'],
  ['linux', 1, 'SIGINT', 'exit 130'],
  ['linux', 1, 'SIGTERM', 'exit 143'],
  ['win32', 42, 'SIGINT', 'exit 130'],
  ['win32', 42, 'SIGTERM', 'exit 143'],
] as const)('exits on %s as process %i after %s: %s', async (platform, pid, signal, how) => {
  const ended = new Promise((resolve) => {
    const signals = watchSignals({
      platform,
      pid,
      raise: (raised) => resolve(`raised ${raised}`),
      exit: (code) => resolve(`exit ${code}`),
    });
    signals.interrupt(signal);
    signals.finish();
  });
  expect(await ended).toBe(how);
});
