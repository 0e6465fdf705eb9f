import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBody, type EnvelopeInput } from '../../src/envelopes/create.ts';
import { type Created, createEnvelope } from '../../src/envelopes/create-once.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { EsignError } from '../../src/kernel/errors.ts';
import { LogFolder, logFolder } from '../../src/log/log-folder.ts';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { type Behavior, type Fate, LaggingService } from '../support/lagging-service.ts';
import { seeded } from '../support/seeded.ts';

/* One request ID creates one envelope, and nobody is emailed twice, for any service that matches the API document. */

const wanted: EnvelopeInput = {
  templateId: 'tmpl_nda',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  send: true,
};

let folder: string;
let clock: FakeClock;
let service: LaggingService | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-twice-'));
  clock = fakeClock();
});
afterEach(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(behavior: Behavior = {}): Promise<LaggingService> {
  service = await LaggingService.start(clock, behavior);
  return service;
}

/** One run of the command on a machine, which is a state folder. */
function run(
  on: LaggingService,
  {
    machine = 'one',
    time = clock,
    ...more
  }: { machine?: string; time?: Clock } & Partial<EnvelopeInput> = {},
): Promise<Created> {
  const memory = new LogFolder(logFolder(join(folder, machine)), time);
  const client = on.client(time, memory);
  return createEnvelope(client, createBody({ ...wanted, ...more }, 'order-1'), { memory, rerun: true });
}

const codeOf = (doing: Promise<unknown>) =>
  doing.then(
    () => 'ok',
    (error: unknown) => (error instanceof EsignError ? error.code : String(error)),
  );
const first =
  (fate: Fate): NonNullable<Behavior['fateOf']> =>
  ({ number }) =>
    number === 1 ? fate : 'ok';

const MINUTE = 60_000;
const HOSTILE: [string, Behavior][] = [
  ['lags by 20 s', { listLagMs: 20_000 }],
  ['lags by 59 s', { listLagMs: 59_000 }],
  ['shows metadata as null', { listMetadata: 'null' }],
  ['shows metadata as an empty object', { listMetadata: 'empty' }],
  ['omits metadata', { listMetadata: 'missing' }],
  ['lower-cases metadata keys', { keys: 'lower-cased' }],
  ['spells templates differently', { templateIn: (id) => `${id}_v3` }],
  ['is ordered by id', { order: 'id' }],
  ['starts with the oldest', { order: 'oldest-first' }],
  ['has a clock that is 2 h ahead', { dateSkewMs: 120 * MINUTE }],
  ['has a clock that is 2 h behind', { dateSkewMs: -120 * MINUTE }],
  ['sends no Date', { dateSkewMs: 'no header' }],
  ['creates 30 min in its own past', { createdSkewMs: -30 * MINUTE }],
];

describe.each(HOSTILE)('a service whose list or clock %s', (_, behavior) => {
  it.each<Fate>(['ok', 'lost', 408, 499, 500])('creates once if the first response is %s', async (fate) => {
    const on = await start({ ...behavior, fateOf: first(fate) });
    await codeOf(run(on));
    expect(await codeOf(run(on))).toBe('ok');
    expect(await run(on)).toMatchObject({ by: 'earlier', envelope: { id: 'env_1' } });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });
});

describe('a request ID', () => {
  it('creates once if a lost request is processed 8 s late', async () => {
    const on = await start({ fateOf: first('late'), lateMs: 8_000 });
    expect(await run(on)).toMatchObject({ by: 'lookup' });
    expect(on.stored).toHaveLength(1);
  });

  it('creates once if a lost request is processed late and the list lags, within a minute together', async () => {
    const on = await start({ fateOf: first('late'), lateMs: 30_000, listLagMs: 25_000 });
    expect(await run(on)).toMatchObject({ by: 'lookup' });
    expect(await run(on)).toMatchObject({ by: 'earlier' });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('ends unknown if both together take longer, and finds the envelope as soon as the list shows it', async () => {
    const on = await start({ fateOf: first('late'), lateMs: 30_000, listLagMs: 40_000 });
    expect(await codeOf(run(on))).toBe('UNKNOWN_OUTCOME');
    await clock.sleep(15_000);
    expect(await run(on)).toMatchObject({ by: 'earlier' });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('creates again a minute after a request that never arrived, and not sooner', async () => {
    const on = await start({ fateOf: first('never came') });
    expect(await codeOf(run(on))).toBe('UNKNOWN_OUTCOME');
    const endedAt = clock.time;
    expect(await run(on)).toMatchObject({ by: 'reply' });
    expect(on.stored).toHaveLength(1);
    expect(clock.time - endedAt).toBeLessThan(5_000);
  });

  it('is searched for a minute after the response was lost, however long the request took', async () => {
    const on = await start({ fateOf: first(500), processingMs: 27_000, listLagMs: 50_000 });
    expect(await run(on)).toMatchObject({ by: 'lookup' });
    expect(await run(on)).toMatchObject({ by: 'earlier' });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('is searched for the rest of that minute by the next run', async () => {
    const on = await start({ fateOf: first(500), processingMs: 27_000, listLagMs: 50_000 });
    const memory = new LogFolder(logFolder(join(folder, 'one')), clock);
    await createEnvelope(on.client(clock, memory), createBody(wanted, 'order-1'), {
      memory,
      rerun: false,
      searching: () => {
        throw new Error('killed');
      },
    }).catch(() => undefined);
    expect(await run(on)).toMatchObject({ by: 'earlier' });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('is searched for until it must be listed, after a kill between the request and its response', async () => {
    const on = await start({ listLagMs: 55_000 });
    const memory = new LogFolder(logFolder(join(folder, 'one')), clock);
    // Killed before it could record the outcome of the request.
    const killed: WriteMemory = {
      place: memory.place,
      find: (keys) => memory.find(keys),
      append: (records) =>
        records.some(({ type }) => type !== 'intent')
          ? Promise.reject(new Error('killed'))
          : memory.append(records),
    };
    const client = on.client(clock, killed);
    await createEnvelope(client, createBody(wanted, 'order-1'), { memory: killed, rerun: false }).catch(
      () => undefined,
    );
    expect(on.stored).toHaveLength(1);
    // The local clock is set 2 hours ahead before the rerun.
    const ahead: Clock = { now: () => clock.now() + 120 * MINUTE, sleep: clock.sleep };
    expect(await run(on, { time: ahead })).toMatchObject({ by: 'earlier' });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('goes through with other content after a request that was refused, or that certainly created nothing', async () => {
    const on = await start({ fateOf: first('never came') });
    await codeOf(run(on));
    const bo = { signers: [{ email: 'bo@example.com', name: 'Bo' }] };
    expect(await run(on, bo)).toMatchObject({ by: 'reply' });
    expect(on.emailsByAddress()).toEqual({ 'bo@example.com': 1 });
  });

  it('creates once for concurrent calls', async () => {
    const on = await start({ listLagMs: 20_000 });
    const all = await Promise.all(Array.from({ length: 5 }, () => run(on)));
    expect(all.map(({ by }) => by).sort()).toEqual(['earlier', 'earlier', 'earlier', 'earlier', 'reply']);
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('is found on another machine, and after the state folder was lost', async () => {
    for (const listMetadata of ['shown', 'null', 'empty', 'missing'] as const) {
      const on = await start({ listMetadata });
      await run(on, { machine: `a-${listMetadata}` });
      expect(await run(on, { machine: `b-${listMetadata}` })).toMatchObject({ by: 'earlier' });
      expect(on.stored).toHaveLength(1);
      await on.close();
    }
  });

  it('is refused for another template or other signers, on this machine and on another', async () => {
    const on = await start();
    await run(on);
    const bo = { signers: [{ email: 'bo@example.com', name: 'Bo' }] };
    for (const machine of ['one', 'two'])
      for (const change of [bo, { templateId: 'tmpl_lease' }])
        await expect(run(on, { machine, ...change })).rejects.toMatchObject({
          code: 'REQUEST_ID_USED',
          message: expect.stringContaining('env_1') as unknown,
        });
    expect(on.stored).toHaveLength(1);
  });

  it.each(['CANCELLED', 'DECLINED', 'EXPIRED'])('is refused if its envelope is %s', async (status) => {
    const on = await start();
    const { envelope } = await run(on);
    const [stored] = on.stored;
    if (stored) stored.envelope.status = status;
    for (const machine of ['one', 'two'])
      await expect(run(on, { machine })).rejects.toMatchObject({
        code: 'INVALID_STATE',
        message: expect.stringContaining(envelope.id) as unknown,
      });
    if (stored) stored.envelope.status = 'COMPLETED';
    expect(await run(on)).toMatchObject({ by: 'earlier', envelope: { status: 'COMPLETED' } });
  });

  it('is reported if the service does not return it, and still known on this machine', async () => {
    const on = await start({ keys: 'dropped' });
    expect(await run(on)).toMatchObject({ warning: { code: 'REQUEST_ID_NOT_ECHOED' } });
    expect(await run(on)).toMatchObject({ by: 'earlier' });
    expect(on.stored).toHaveLength(1);
    await on.close();
    expect((await run(await start({ keys: 'lower-cased' }), { machine: 'two' })).warning).toBeUndefined();
  });

  it('is unknown, and never created again, if the service shows no request IDs', async () => {
    const on = await start({ keys: 'dropped', fateOf: first('lost') });
    expect(await codeOf(run(on))).toBe('UNKNOWN_OUTCOME');
    await clock.sleep(10 * MINUTE);
    expect(await codeOf(run(on))).toBe('UNKNOWN_OUTCOME');
    expect(on.stored).toHaveLength(1);
  });

  it('is refused if it is empty, before anything is sent', async () => {
    const on = await start();
    const options = { memory: new ProcessMemory(), rerun: true };
    await expect(createEnvelope(on.client(), createBody(wanted, ''), options)).rejects.toMatchObject({
      code: 'USAGE',
    });
    expect(on.seen).toEqual([]);
  });
});

const SEED = Number(process.env.FAULT_SEED ?? 1);
const RUNS = Number(process.env.CREATE_RUNS ?? 25);

it(`emails nobody twice in ${RUNS} random services, from FAULT_SEED=${SEED}`, {
  timeout: 120_000,
}, async () => {
  const fates: [Fate, ...Fate[]] = ['ok', 'lost', 'never came', 'late', 408, 499, 500];
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const random = seeded(seed);
    const pick = <T>(values: readonly [T, ...T[]]): T =>
      values[Math.floor(random() * values.length)] ?? values[0];
    const on = await start({
      listLagMs: pick([0, 1_000, 20_000, 59_000]),
      listMetadata: pick(['shown', 'null', 'empty', 'missing']),
      keys: pick(['kept', 'lower-cased']),
      order: pick(['newest-first', 'oldest-first', 'id']),
      dateSkewMs: pick([0, 0, 90 * MINUTE, -90 * MINUTE, 'no header']),
      createdSkewMs: pick([0, 0, -30 * MINUTE]),
      lateMs: pick([1_000, 8_000]),
      fateOf: () => (random() < 0.5 ? pick(fates) : 'ok'),
    });
    let done = false;
    for (let tries = 0; tries < 12 && !done; tries++)
      done = (await codeOf(run(on, { machine: `m-${seed}` }))) === 'ok';
    const counts = on.emailsByAddress();
    expect({ seed, counts: Object.values(counts).filter((count) => count > 1) }).toEqual({
      seed,
      counts: [],
    });
    await on.close();
  }
});

describe('a create without a request ID', () => {
  const attempt = (on: LaggingService, memory: WriteMemory, requestId: string) =>
    createEnvelope(on.client(clock, memory), createBody(wanted, requestId), {
      memory,
      rerun: false,
      resumesInterrupted: true,
    });

  it('first resolves an interrupted create with the same content, and returns its envelope', async () => {
    const on = await start({ listLagMs: 55_000, fateOf: first('lost') });
    const memory = new LogFolder(logFolder(folder), clock);
    const killed: WriteMemory = {
      place: memory.place,
      find: (keys) => memory.find(keys),
      append: (records) => memory.append(records),
    };
    await createEnvelope(on.client(clock, killed), createBody(wanted, 'generated-1'), {
      memory: killed,
      rerun: false,
      searching: () => {
        throw new Error('killed');
      },
    }).catch(() => undefined);
    expect(await attempt(on, memory, 'generated-2')).toMatchObject({
      by: 'earlier',
      warning: { code: 'INTERRUPTED_CREATE_FOUND' },
    });
    expect(on.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });

  it('is a new one if the earlier one is done, or created nothing', async () => {
    const on = await start();
    const memory = new LogFolder(logFolder(folder), clock);
    await attempt(on, memory, 'generated-1');
    expect(await attempt(on, memory, 'generated-2')).toMatchObject({ by: 'reply' });
    expect(on.stored).toHaveLength(2);
  });
});
