import { ensureBuilt } from './ensure.js';
import { runVitest } from './vitest.js';

// Runs what `npm test` leaves out: the tests tagged "full", every snippet in the docs, the pages in a browser, a real S3 service, and
// the nightly suites (kills, full disks, random campaigns). With --short, as in CI, the suites run small numbers with fixed seeds.

const SHORT = {
  FAULT_SEED: '20261121',
  BULK_ROWS: '400',
  SEAL_ENVELOPES: '20',
  FAULT_REQUESTS: '200',
  FAULT_DISK_CALLS: '2',
  FAULT_KILLS: '5',
  FIND_ENVELOPES: '2000',
};

/** The numbers of random runs. `npm test` does fewer. */
const LONG = {
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

const words = process.argv.slice(2).filter((word) => word !== '--short');
const numbers = { ...(process.argv.includes('--short') ? SHORT : LONG), ...process.env };
await ensureBuilt();
const tagged = await runVitest(['unit', 'promises', 'process'], ['--tags-filter', 'full', ...words], numbers);
const suites = await runVitest(['docs', 'browser', 'ceph', 'nightly'], words, numbers);
process.exitCode = tagged || suites;
