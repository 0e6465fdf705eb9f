import { expect, it } from 'vitest';
import { campaign } from '../support/bulk-campaign.ts';

/** The first seeds of the campaign in `test/nightly/bulk-never-twice.test.ts`. */
const RUNS = Number(process.env.CAMPAIGNS ?? 4);
const FIRST_SEED = Number(process.env.FAULT_SEED ?? 1);

it('emails nobody twice through kills, lost responses, lagging lists, shifted clocks, and restored state', {
  timeout: 120_000,
}, async () => {
  const wrong: string[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const { wrong: here, facts } = await campaign(seed);
    if (here.length > 0) wrong.push(`${here.join('; ')} ${facts}`);
  }
  expect(wrong).toEqual([]);
});
