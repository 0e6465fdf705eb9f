import { expect, it } from 'vitest';
import { type Campaign, campaign } from '../support/bulk-campaign.ts';

const RUNS = Number(process.env.CAMPAIGNS ?? 2_000);
const FIRST_SEED = Number(process.env.FAULT_SEED ?? 1);

it(`emails nobody twice in ${RUNS} seeded campaigns`, { timeout: 3_600_000 }, async () => {
  const broken: string[] = [];
  const sum: Omit<Campaign, 'wrong' | 'facts'> = { kills: 0, restores: 0, lost: 0, together: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const { wrong, facts, kills, restores, lost, together } = await campaign(seed);
    if (wrong.length > 0) broken.push(`${wrong.join('; ')} ${facts}`);
    sum.kills += kills;
    sum.restores += restores;
    sum.lost += lost;
    sum.together += together;
  }
  process.stdout.write(`bulk campaigns: FAULT_SEED=${FIRST_SEED} ${JSON.stringify(sum)}\n`);
  expect(broken).toEqual([]);
});
