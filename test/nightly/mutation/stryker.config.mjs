import { readFileSync } from 'node:fs';

const area = process.env.MUTATION_AREA ?? 'core';
const { mutate } = JSON.parse(readFileSync(new URL('areas.json', import.meta.url), 'utf8'))[area];

export default {
  packageManager: 'npm',
  plugins: ['@stryker-mutator/vitest-runner', './test/nightly/mutation/texts.mjs'],
  ignorers: ['texts'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/nightly/mutation/vitest.config.ts' },
  mutate,
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 20_000,
  disableTypeChecks: false,
  tempDirName: 'coverage/stryker',
  ignorePatterns: ['docs', 'coverage', 'reports'],
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: `coverage/mutation-${area}.json` },
  clearTextReporter: { allowColor: false, logTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
};
