import { expect, test } from 'vitest';
import { fuzz } from '../sandbox/service/fuzzing.ts';

const requests = Number(process.env.FUZZ_REQUESTS ?? 100_000);
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 32);

test(`survives ${requests} hostile requests from seed ${seed}`, {
  timeout: 3_600_000,
}, async () => {
  process.stdout.write(`sandbox fuzz: ${requests} requests, FUZZ_SEED=${seed}\n`);
  const { created, statuses } = await fuzz(requests, seed);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count}x ${status}`);
  process.stdout.write(`sandbox fuzz: ${created} envelopes; ${counts.join(', ')}\n`);
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
});
