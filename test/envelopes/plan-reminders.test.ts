import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceClock } from '../../src/api/service-clock.ts';
import { remindAction } from '../../src/envelopes/plan-reminders.ts';
import { logFolder } from '../../src/log/log-folder.ts';
import { readReminders } from '../../src/log/read-log.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { newFolder } from '../support/folder.ts';
import { gateFor, memoryOf } from '../support/recording.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const HOUR_MS = 3_600_000;
const people = (idOf: (name: string) => string | null) =>
  ['ada', 'bo'].map((name, index) => ({
    ...{ id: idOf(name), email: `${name}@b.c`, status: 'SENT' },
    order: index + 1,
  }));

let service: TestServer;
let machine: string;
let signers: ReturnType<typeof people>;
let signingOrder: string;
beforeEach(async () => {
  signers = people((name) => `s_${name}`);
  signingOrder = 'PARALLEL';
  service = await startServer((_, response) =>
    json(response, 200, { data: { id: 'env_1', status: 'SENT', signingOrder, signers } }),
  );
  machine = newFolder();
});

/** Plans a reminder as a separate process. */
async function plan(named?: string, time = NOW) {
  const clock = fakeClock(time);
  const baseUrl = `${service.origin}/api/v1`;
  const serviceClock = new ServiceClock(clock);
  const gate = async () => gateFor(memoryOf(machine, clock), baseUrl, clock, () => serviceClock.now());
  const action = remindAction(
    {
      client: clientFor(service.origin, { clock, serviceClock, gate }),
      signal: new AbortController().signal,
      rolesOf: () => Promise.reject(new Error('not needed')),
      readReminders: () => readReminders(logFolder(machine), baseUrl),
    },
    { signersOf: () => (named ? [named] : undefined), gapMs: HOUR_MS, reportsRecent: false },
  );
  const planned = await action.plan('env_1');
  if (planned.kind !== 'execute') throw new Error(planned.kind);
  return planned;
}
const reminders = () => service.seen.filter(({ method }) => method === 'POST').map(({ body }) => body);

describe('two processes that plan before either sends', () => {
  it.each([
    ['the same signers', undefined, undefined],
    ['the same signer by ID and by address', 's_ada', 'ada@b.c'],
    ['all signers, then one of them', undefined, 's_ada'],
    ['one signer, then all of them', 's_ada', undefined],
  ])('send one reminder to %s', async (_, first, second) => {
    const [one, other] = [await plan(first), await plan(second)];
    await one.execute();
    await expect(other.execute()).rejects.toMatchObject({ code: 'REMINDED_RECENTLY' });
    expect(reminders()).toHaveLength(1);
  });

  it('remind both of two different signers', async () => {
    const [one, other] = [await plan('s_ada'), await plan('s_bo')];
    await one.execute();
    await other.execute();
    expect(reminders()).toHaveLength(2);
  });
});

describe('a reminder for everyone whose turn it is', () => {
  it.each([
    ['is one request if that is everyone who has not signed', 'PARALLEL', ''],
    [
      'names the signer if others sign later, because the service might remind them',
      'SEQUENTIAL',
      '{"signerId":"s_ada"}',
    ],
  ])('%s', async (_, order, body) => {
    signingOrder = order;
    await (await plan()).execute();
    expect(reminders()).toEqual([body]);
  });
});

describe('a signer who was not reminded yet', () => {
  it.each<[string, (name: string) => string | null]>([
    ['with no ID', () => null],
    ['with an empty ID', () => ''],
    ['with a base64 ID', (name) => `${name}+/9==`],
    ['with a long ID', (name) => `${name}${'x'.repeat(200)}`],
    ['with an address as the ID', (name) => `${name}@b.c`],
    ['with a usual ID', (name) => `s_${name}`],
  ])('is reminded after another one was, %s', async (_, idOf) => {
    signers = people(idOf);
    await (await plan('ada@b.c')).execute();
    const rest = await plan();
    expect(rest.signers.map(({ email }) => email)).toEqual(['bo@b.c']);
    await rest.execute();
    expect(reminders()).toHaveLength(2);
    await expect(plan()).rejects.toThrow('skip');
  });
});

describe('after the clock was ahead once, without a time from the service', () => {
  it.each([
    ['by an hour', 1],
    ['by a day', 24],
    ['by years', 40_000],
  ])('signers are reminded again: %s', async (_, hours) => {
    await (await plan(undefined, NOW + hours * HOUR_MS)).execute();
    await (await plan()).execute();
    expect(reminders()).toHaveLength(2);
    await expect(plan()).rejects.toThrow('skip');
  });

  it('a few minutes count as the same clock', async () => {
    await (await plan(undefined, NOW + 300_000)).execute();
    await expect(plan()).rejects.toThrow('skip');
  });
});
