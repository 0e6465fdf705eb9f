import { ensureBuilt } from './ensure.js';
import { runVitest } from './vitest.js';

// Runs every test: the end-to-end tests with each command as a process, the web pages in a browser, a real S3 service, every
// snippet in the docs, and the fault suites with small numbers. `npm run test:faults` runs those at full length.

/** Fixed seeds, so that a failure is caused by a change and not by chance. The caller's variables take precedence. */
const SHORT_FAULTS = {
  FAULT_SEED: '20261121',
  FUZZ_SEED: '20261121',
  BULK_ROWS: '400',
  SEAL_ENVELOPES: '20',
  FAULT_REQUESTS: '200',
  FUZZ_REQUESTS: '5000',
  FAULT_DISK_CALLS: '2',
  FAULT_KILLS: '5',
};

/** The numbers of random runs. `npm test` does fewer. */
const MORE_RUNS = {
  CAMPAIGNS: '40',
  CREATE_CALLS: '1000',
  CREATE_RUNS: '60',
  FIND_ENVELOPES: '10000',
  FORGERIES: '100000',
  INDEX_RUNS: '60',
  LISTEN_KILLS: '8',
  REPLACE_RUNS: '20',
  WATCH_RUNS: '3',
};

await ensureBuilt();
const words = process.argv.slice(2);
const suite = await runVitest(['unit', 'e2e', 'browser', 'rgw'], words, {
  ...MORE_RUNS,
  ...process.env,
  ESIGN_REAL: '1',
});
const faults = words.length > 0 ? 0 : await runVitest(['faults'], [], { ...SHORT_FAULTS, ...process.env });
process.exitCode = suite || faults;
