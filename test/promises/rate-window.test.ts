import { afterAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, linesOf, reportedError } from '../support/cli.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
const services: FakeService[] = [];
afterAll(async () => {
  await home.close();
  for (const { server } of services) await server.close();
});

/** A service with a fixed window that records the requests it refused. */
async function limited(limit: number, lengthMs: number) {
  let [endsAt, used] = [0, 0];
  const record = { refused: 0 };
  const service = await fakeService((request, response) => {
    const now = Date.now();
    if (now >= endsAt) [endsAt, used] = [now + lengthMs, 0];
    const refused = used >= limit;
    if (refused) record.refused++;
    else used++;
    const headers = {
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(limit - used),
      'X-RateLimit-Reset': String(endsAt),
    };
    const id = request.path.split('/').at(-1);
    if (refused) json(response, 429, { error: { code: 'RATE_LIMITED', message: 'slow down' } }, headers);
    else json(response, 200, { data: { id, status: 'SENT', signers: [] } }, headers);
  });
  services.push(service);
  return { ...service, record };
}

const ids = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `env_${from + i}\n`).join('');

describe('the rate window of a key', () => {
  it('is shared by three processes at the same time: everything is done, and nothing is refused', async () => {
    const { env, record } = await limited(40, 3_000);
    const runs = await Promise.all(
      [0, 100, 200].map((from) => home.run(argv`envelopes get - --json`, { env, input: ids(from, 40) })),
    );
    expect(runs.map((run) => [run.code, linesOf(run.stdout).length])).toEqual([
      [0, 40],
      [0, 40],
      [0, 40],
    ]);
    // On a slow machine, requests that were sent in one window arrive in the next. If each counted alone, 80 would be refused.
    expect(record.refused).toBeLessThanOrEqual(8);
  });

  it('is awaited, with a notice', async () => {
    const { env, record } = await limited(3, 5_000);
    const waited = await home.run(argv`envelopes get -`, { env, input: ids(0, 5) });
    expect(waited.code).toBe(0);
    expect(waited.stderr).toMatch(/\d second/);
    expect(record.refused).toBe(0);
  });

  it('is not awaited with --no-wait; a later command checks it with one request', async () => {
    const { env, record } = await limited(3, 600_000);
    const several = await home.run(argv`envelopes get - --no-wait`, { env, input: ids(0, 9) });
    expect([several.code, record.refused]).toEqual([10, 0]);
    const one = await home.run(argv`envelopes get env_1 --no-wait --json`, { env });
    expect([one.code, reportedError(one).code, record.refused]).toEqual([7, 'RATE_LIMITED', 1]);
  });
});
