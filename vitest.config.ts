import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { Mixed } from './test/support/order.ts';

/** The sources are loaded once per process and not once per file, which is half of the time that unit tests take. */
const shared = {
  pool: 'forks' as const,
  isolate: false,
  // Each command evaluates the program's modules again. A larger young generation needs fewer full
  // collections. On two cores, garbage collection threads only slow down the other worker.
  execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=32', '--single-threaded-gc'],
};

/** On Node 20, the AWS SDK warns that it will drop support. The bundle hides this warning, too. */
const env = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

/** Random tests of `npm test` are the same each time. Another seed finds other faults. */
const seed = { FAULT_SEED: process.env.FAULT_SEED ?? '1' };

/** What only `npm run test:full` runs: `/* @module-tag full *\/` for a file, `{ tags: ['full'] }` for a test. */
const tags = [{ name: 'full', description: 'runs in npm run test:full only' }];

/** `ESIGN_SHUFFLE=1 npm test` runs files and tests in a random order, whose seed is printed; `--sequence.seed N` repeats it. */
const order = process.env.ESIGN_SHUFFLE ? { shuffle: true } : { sequencer: Mixed };

/** Projects whose tests run commands: in their own process, or as processes. */
const commands = {
  ...shared,
  tags,
  globalSetup: ['scripts/in-process.js'],
  setupFiles: ['test/support/tidy.ts', 'test/support/random-seed.ts'],
  env: seed,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Many of them wait: for retries, for signals, for the processes they start.
  maxWorkers: availableParallelism() + 3,
};

/** Projects that `npm run test:full` runs one after another. */
const nightly = {
  tags,
  globalSetup: ['scripts/in-process.js'],
  env,
  testTimeout: 600_000,
  hookTimeout: 120_000,
  // They wait for lost replies to show up in a list, which takes a minute, and for processes.
  maxWorkers: availableParallelism() + 1,
};

export default defineConfig({
  test: {
    tags,
    sequence: order,
    projects: [
      {
        resolve: { alias: { 'when-exit': join(import.meta.dirname, 'test/support/no-when-exit.ts') } },
        test: {
          ...shared,
          tags,
          name: 'unit',
          // Their import of when-exit gets the alias above only when Vite loads them.
          server: { deps: { inline: ['conf', 'atomically'] } },
          include: ['test/**/*.test.ts'],
          exclude: ['test/promises/**', 'test/process/**', 'test/nightly/**'],
          setupFiles: ['test/support/tidy.ts', 'test/support/fence.ts', 'test/support/random-seed.ts'],
          env: { ...env, ...seed },
          restoreMocks: true,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: availableParallelism() + 2,
          maxConcurrency: 10,
          sequence: { ...order, groupOrder: 0 },
        },
      },
      {
        test: {
          ...commands,
          name: 'promises',
          include: ['test/promises/**/*.test.ts'],
          sequence: { ...order, groupOrder: 1 },
        },
      },
      {
        test: {
          ...commands,
          name: 'process',
          include: ['test/process/**/*.test.ts'],
          sequence: { ...order, groupOrder: 1 },
        },
      },
      {
        test: {
          ...nightly,
          name: 'browser',
          include: ['test/nightly/browser/**/*.test.ts'],
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...nightly,
          name: 'docs',
          setupFiles: ['test/support/random-seed.ts'],
          include: ['test/nightly/docs/**/*.test.ts'],
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...nightly,
          name: 'ceph',
          include: ['test/nightly/ceph/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...nightly,
          name: 'nightly',
          include: ['test/nightly/*.test.ts'],
          setupFiles: ['test/support/fence.ts', 'test/support/random-seed.ts'],
          sequence: { groupOrder: 4 },
        },
      },
    ],
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
