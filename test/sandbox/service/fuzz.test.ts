import { expect, test } from 'vitest';
import { fuzz } from './fuzzing.ts';

test("1,000 hostile requests: no 500, every response in the API's shape, and nothing is lost", {
  timeout: 60_000,
}, async () => {
  const { created, statuses } = await fuzz(1_000, 20_260_301);
  expect(created).toBeGreaterThan(20);
  for (const status of [200, 201, 400, 401, 403, 404, 405])
    expect([status, (statuses.get(status) ?? 0) > 0]).toEqual([status, true]);
});
