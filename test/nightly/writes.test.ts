import { expect, it } from 'vitest';
import { createThroughFaults, replaceThroughLag } from '../support/write-campaign.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.WRITE_RUNS ?? 2_000);

it.each([
  ['create', createThroughFaults],
  ['replace', replaceThroughLag],
])(`emails nobody twice with %s in ${RUNS} seeds`, { timeout: 3_600_000 }, async (name, campaign) => {
  expect(RUNS).toBeGreaterThan(0);
  process.stdout.write(`${name} faults: WRITE_RUNS=${RUNS} FAULT_SEED=${SEED}\n`);
  for (let run = 0; run < RUNS; run++) {
    await campaign(SEED + run);
    if (run % 500 === 499) process.stdout.write(`${name} faults: ${run + 1} runs\n`);
  }
});
