import { defineConfig } from 'vitest/config';
import areas from './areas.json' with { type: 'json' };
import { ShortestFirst } from './shortest-first.ts';

const area = Object.entries(areas).find(([name]) => name === process.env.MUTATION_AREA)?.[1] ?? areas.core;

// The unit tests of mutated code. Those of `watch` simulate weeks and would run for each mutant.
export default defineConfig({
  test: {
    include: area.tests,
    exclude: ['test/envelopes/watch/**'],
    // Each run takes a new process; its test files share the sources that are loaded.
    isolate: false,
    sequence: { sequencer: ShortestFirst },
    tags: [{ name: 'full' }],
    setupFiles: ['test/support/fence.ts'],
    testTimeout: 20_000,
  },
});
