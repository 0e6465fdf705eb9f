import { defineConfig } from 'vitest/config';

/**
 * On shared CI machines a process may stand still for seconds, and to be measured slows every process down: what touches
 * the clock gets a second try.
 */
const retry = process.env.CI || process.env.ESIGN_COVERAGE ? 1 : 0;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/e2e/**',
            'test/faults/**',
            'test/browser/**',
            'test/contract/**',
            'test/mutation/**',
            'test/rgw/**',
          ],
          setupFiles: ['test/support/fence.ts', 'test/support/coverage.ts'],
          retry,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'browser',
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
          include: ['test/rgw/**/*.test.ts'],
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
          include: ['test/faults/**/*.test.ts'],
          setupFiles: ['test/support/fence.ts'],
          testTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          setupFiles: ['test/support/coverage.ts'],
          retry,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // After the unit tests: each of these starts processes of its own.
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
        },
      },
    ],
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
