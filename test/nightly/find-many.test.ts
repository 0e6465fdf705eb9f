import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, linesOf } from '../support/cli.ts';
import { answerPage, type FakeService, fakeService } from '../support/fake-service.ts';
import { findAfterAnyHistory } from '../support/find-world.ts';
import { json } from '../support/server.ts';

/* Thousands of envelopes, lists without signers, and a rate window shared with other clients. */
const MANY = Number(process.env.FIND_ENVELOPES ?? 2_000);
const PER_NAME = MANY / 500;
const WINDOW = { limit: Math.min(MANY / 2, 2_000), ms: 2_000 };
const RESERVED = 0.1;

const home = new Home();
let service: FakeService;
const record = { refused: 0, most: 0 };
let [endsAt, used] = [0, 0];

const item = (place: number) => {
  const n = MANY - 1 - place;
  const createdAt = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
  return {
    id: `env_${n}`,
    status: n % 100 === 0 ? 'SENT' : 'CANCELLED',
    subject: `Contract ${n}`,
    createdAt,
  };
};
const whole = (n: number) => ({
  ...item(MANY - 1 - n),
  metadata: {},
  signers: [{ name: `Signer No${n % 500}`, email: `s${n}@example.com`, status: 'SENT' }],
});

beforeAll(async () => {
  service = await fakeService((request, response) => {
    if (Date.now() >= endsAt) [endsAt, used] = [Date.now() + WINDOW.ms, 0];
    const isRefused = used >= WINDOW.limit;
    if (isRefused) record.refused++;
    else record.most = Math.max(record.most, ++used);
    const headers = {
      'X-RateLimit-Limit': String(WINDOW.limit),
      'X-RateLimit-Remaining': String(WINDOW.limit - used),
      'X-RateLimit-Reset': String(endsAt),
    };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (isRefused) return json(response, 429, { error: { code: 'RATE_LIMITED', message: 'slow down' } });
    const [, id] = /env_(\d+)$/.exec(request.path) ?? [];
    if (id === undefined) return answerPage(request, response, MANY, item);
    json(response, 200, { data: whole(Number(id)) });
  });
});
afterAll(async () => {
  await home.close();
  await service.server.close();
});

const requests = () => service.server.seen.length;
const paths = () => service.server.seen.filter(({ path }) => path.includes('env_')).map(({ path }) => path);

describe('thousands of envelopes', () => {
  it('are read once, even if the first run is killed; later runs send one or two requests', async () => {
    const first = home.start(argv`find no77 -q`, { env: service.env });
    while (requests() < MANY * (3 / 8)) await sleep(20);
    first.child.kill('SIGKILL');
    await first.ended;

    const find = () => home.run(argv`find no77 --all -q`, { env: service.env });
    const { code, stdout } = await find();
    expect([code, linesOf(stdout).length]).toEqual([0, PER_NAME]);
    // A killed run has not yet stored the last few that it read.
    expect(paths().length - new Set(paths()).size).toBeLessThan(150);
    expect(requests()).toBeLessThan(MANY * 1.01 + 100);
    expect(record.refused).toBe(0);
    // One window may begin before its usage is known.
    expect(record.most).toBeLessThanOrEqual(WINDOW.limit * (1 - RESERVED) + 20);

    // Two at the same time don't disturb each other.
    for (const one of await Promise.all([find(), find()]))
      expect([one.code, linesOf(one.stdout).length]).toEqual([0, PER_NAME]);

    const cost = async (...args: string[]) => {
      const before = requests();
      const { code, stdout } = await home.run(argv`${args} -q`, { env: service.env });
      expect(code).toBe(0);
      return { requests: requests() - before, found: linesOf(stdout).length };
    };
    expect(await cost('find', 'no77')).toEqual({ requests: 1, found: PER_NAME });
    // One more for each shown envelope that can still change.
    expect(await cost('find', 'no300')).toEqual({
      requests: 1 + PER_NAME,
      found: PER_NAME,
    });
    expect(await cost('find', 'contract', '-L', '100')).toEqual({ requests: 1 + 1, found: 100 });
    expect(await cost('envelopes', 'list', '--signer', `s${MANY - 223}@`)).toEqual({ requests: 1, found: 1 });
    expect(await cost('find', 'no300', '--cached')).toEqual({ requests: 0, found: PER_NAME });
  }, 300_000);
});

it(
  'find returns what the service has, after any sequence of changes',
  () => findAfterAnyHistory(Number(process.env.INDEX_RUNS ?? 20)),
  300_000,
);
