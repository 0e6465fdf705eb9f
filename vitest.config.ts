import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { Mixed } from './test/support/order.ts';

/** Measuring coverage slows every process down, so tests that depend on the clock get a second try. For CI, see scripts/vitest.js. */
const retry = process.env.ESIGN_COVERAGE ? 1 : 0;

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

/** What only `npm run test:full` runs: `/* @module-tag full *\/` for a file, `{ tags: ['full'] }` for a test. */
const tags = [{ name: 'full', description: 'runs in npm run test:full only' }];

/** `ESIGN_SHUFFLE=1 npm test` runs files and tests in a random order, whose seed is printed; `--sequence.seed N` repeats it. */
const order = process.env.ESIGN_SHUFFLE ? { shuffle: true } : { sequencer: Mixed };

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
          exclude: [
            'test/e2e/**',
            'test/faults/**',
            'test/browser/**',
            'test/contract/**',
            'test/mutation/**',
            'test/rgw/**',
          ],
          setupFiles: ['test/support/coverage.ts', 'test/support/tidy.ts', 'test/support/fence.ts'],
          env,
          restoreMocks: true,
          retry,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Some tests wait in real time. Each additional worker takes seconds to load, so there are fewer than below.
          maxWorkers: availableParallelism() + 2,
          maxConcurrency: 10,
          sequence: { ...order, groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'browser',
          globalSetup: ['scripts/in-process.js'],
          tags,
          include: ['test/browser/**/*.test.ts'],
          retry,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'rgw',
          globalSetup: ['scripts/in-process.js'],
          include: ['test/rgw/**/*.test.ts'],
          env,
          retry,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'faults',
          globalSetup: ['scripts/in-process.js'],
          include: ['test/faults/**/*.test.ts'],
          setupFiles: ['test/support/fence.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          tags,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['scripts/in-process.js'],
          setupFiles: ['test/support/coverage.ts', 'test/support/tidy.ts'],
          retry,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Run after the unit tests, because each of these starts processes.
          sequence: { ...order, groupOrder: 1 },
          // Many of them wait: for retries, for signals, for the processes they start.
          maxWorkers: availableParallelism() + 3,
        },
      },
    ],
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
