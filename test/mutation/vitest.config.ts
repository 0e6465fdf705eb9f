import { defineConfig } from 'vitest/config';

// The unit tests of what is mutated; those of `watch` play weeks and would be played again for each mutant.
export default defineConfig({
  test: {
    include: ['test/{api,envelopes,kernel,output}/**/*.test.ts'],
    exclude: ['test/envelopes/watch/**'],
    setupFiles: ['test/support/fence.ts'],
    testTimeout: 20_000,
  },
});
