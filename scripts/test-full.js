import { ensureBuilt } from './ensure.js';
import { runVitest } from './vitest.js';

// Runs what `npm test` leaves out: the tests tagged "full", every snippet in the docs, the pages in a browser, a real S3 service, and
// the nightly suites (kills, full disks, random campaigns). With --short, as in CI, the suites run small numbers with fixed seeds.

/** Smaller numbers of random runs, with fixed seeds. Without them, each suite runs the numbers that it names itself. */
const SHORT = {
  FAULT_SEED: '20261121',
  BULK_ROWS: '400',
  CAMPAIGNS: '60',
  EXPLORE_SECONDS: '10',
  FAULT_DISK_CALLS: '2',
  FIND_ENVELOPES: '2000',
  INDEX_RUNS: '20',
  REPLACE_KILLED_RUNS: '3',
  REPLACE_RUNS: '40',
  SEAL_ENVELOPES: '20',
  WRITE_RUNS: '100',
};

/** Larger numbers for suites that `npm test` runs, too. */
const LONG = {
  FIND_ENVELOPES: '10000',
  INDEX_RUNS: '60',
};

const words = process.argv.slice(2).filter((word) => word !== '--short');
const numbers = { ...(process.argv.includes('--short') ? SHORT : LONG), ...process.env };
await ensureBuilt();
const tagged = await runVitest(['unit', 'promises', 'process'], ['--tags-filter', 'full', ...words], numbers);
const suites = await runVitest(['docs', 'browser', 'ceph', 'nightly'], words, numbers);
process.exitCode = tagged || suites;
