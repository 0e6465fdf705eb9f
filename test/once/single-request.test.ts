import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import { LogFolder, logFolder } from '../../src/log/log-folder.ts';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { createBody, type EnvelopeInput } from '../../src/once/create-body.ts';
import { createOnce } from '../../src/once/create-envelope.ts';
import type { CreateResult } from '../../src/once/created.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { FaultyService } from '../support/faulty-service.ts';
import { newFolder } from '../support/folder.ts';
import { codeOf, firstOnly, killedProcess } from '../support/interrupting.ts';
import { seeded } from '../support/seeded.ts';
import type { Behavior, Fate } from '../support/service-behavior.ts';

/* One request ID emails its signers once, for any service that matches the API document. */

const wanted: EnvelopeInput = {
  templateId: 'tmpl_nda',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  send: true,
};
const ONCE = { 'ada@example.com': 1 };

let folder: string;
let clock: FakeClock;
beforeEach(() => {
  folder = newFolder();
  clock = fakeClock();
});

const start = (behavior: Behavior = {}) => FaultyService.start(clock, behavior);

interface Run extends Partial<EnvelopeInput> {
  /** A machine is a state folder. */
  machine?: string;
  time?: Clock;
  requestId?: string;
  retries?: number;
  memory?: WriteMemory;
}

/** One run of the command on a machine. */
function run(
  on: FaultyService,
  {
    machine = 'one',
    time = clock,
    requestId = 'order-1',
    retries = 0,
    memory = memoryOf(machine, time),
    ...more
  }: Run = {},
): Promise<CreateResult> {
  return createOnce(on.client(time, memory, { retries }), createBody({ ...wanted, ...more }, requestId), {
    memory,
  });
}

function memoryOf(machine: string, time: Clock = clock): WriteMemory {
  return new LogFolder(logFolder(join(folder, machine)), time);
}

/** The statuses of the envelopes, oldest first. */
const statuses = (on: FaultyService) => on.stored.map(({ envelope }) => envelope.status);

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
  ['does not find a new envelope for 15 s', { getLagMs: 15_000 }],
];

describe.each(HOSTILE)('with a service whose list or clock %s', (_, behavior) => {
  it.each<Fate>(['ok', 'lost', 'no body', 408, 499, 500])(
    'a request ID emails once if the first response is %s',
    async (fate) => {
      const on = await start({ ...behavior, fateOf: firstOnly(fate) });
      await run(on);
      expect(await run(on)).toMatchObject({ by: 'earlier', envelope: { id: 'env_1', status: 'SENT' } });
      // By then, a service finds a draft that was left, so that it can be canceled.
      await clock.sleep(MINUTE);
      expect(await run(on, { machine: 'two' })).toMatchObject({ envelope: { id: 'env_1' } });
      expect(on.emailsByAddress()).toEqual(ONCE);
      expect(
        statuses(on)
          .slice(1)
          .filter((status) => status !== 'CANCELLED'),
      ).toEqual([]);
    },
  );
});

describe('a request ID', () => {
  it('sends the oldest draft and cancels the other one if a response was lost', async () => {
    const on = await start({ fateOf: firstOnly('lost') });
    expect(await run(on)).toMatchObject({ by: 'lookup', envelope: { id: 'env_1', status: 'SENT' } });
    expect(statuses(on)).toEqual(['SENT', 'CANCELLED']);
  });

  it('needs one draft if the first request never arrived', async () => {
    const on = await start({ fateOf: firstOnly('never came') });
    expect(await run(on)).toMatchObject({ by: 'reply' });
    expect(statuses(on)).toEqual(['SENT']);
  });

  it.each([
    ['within the reading', 1_000, 0],
    ['after the envelope was sent', 30_000, 0],
    ['and the list lags', 30_000, 25_000],
    ['and both together take longer than a minute', 30_000, 40_000],
  ])('emails once if a lost request takes effect late, %s', async (_, lateMs, listLagMs) => {
    const on = await start({ fateOf: firstOnly('late'), lateMs, listLagMs });
    const { envelope } = await run(on);
    await clock.sleep(2 * MINUTE);
    for (const machine of ['one', 'two'])
      expect(await run(on, { machine })).toMatchObject({ envelope: { id: envelope.id, status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
    expect(statuses(on).sort()).toEqual(['CANCELLED', 'SENT']);
  });

  it('is sent after a kill between the request and its response, even if the clock is set ahead since', async () => {
    const on = await start({ listLagMs: 55_000 });
    await codeOf(run(on, killedProcess(memoryOf('one'), clock)));
    expect(statuses(on)).toEqual(['DRAFT']);
    const ahead: Clock = { now: () => clock.now() + 120 * MINUTE, sleep: clock.sleep };
    expect(await run(on, { time: ahead })).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it('emails once although the service does not find its envelope for a while', async () => {
    const on = await start();
    await run(on);
    // The log names the envelope, but a moment later, another node of the service shows it neither in the list nor by its ID.
    on.behavior.listLagMs = 50_000;
    on.behavior.getLagMs = 15_000;
    expect(await run(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
    expect(statuses(on)).toEqual(['SENT', 'CANCELLED']);
  });

  it('is free for other content after a request that created nothing', async () => {
    const on = await start({ fateOf: ({ number }) => (number <= 4 ? 'never came' : 'ok') });
    expect(await codeOf(run(on))).toBe('UNKNOWN_OUTCOME');
    const bo = { signers: [{ email: 'bo@example.com', name: 'Bo' }] };
    expect(await run(on, bo)).toMatchObject({ by: 'reply' });
    expect(on.emailsByAddress()).toEqual({ 'bo@example.com': 1 });
  });

  it.each([
    ['in one state folder', () => 'one'],
    ['on several machines', (index: number) => `machine-${index}`],
  ])('emails once for calls at the same time %s', async (_, machineOf) => {
    const on = await start({ listLagMs: 20_000 });
    const all = await Promise.all(
      Array.from({ length: 5 }, (_one, index) => run(on, { machine: machineOf(index) })),
    );
    expect(new Set(all.map(({ envelope }) => envelope.id)).size).toBe(1);
    expect(on.emailsByAddress()).toEqual(ONCE);
    expect(statuses(on).filter((status) => status !== 'CANCELLED')).toEqual(['SENT']);
  });

  it('emails once if one process waits for the rate limit and the other does not', async () => {
    for (const fate of ['ok', 'lost', 'late'] as const) {
      const fates: Fate[] = [429, 'ok', fate];
      const on = await start({
        listLagMs: 25_000,
        lateMs: 8_000,
        fateOf: ({ number }) => fates[number - 1] ?? 'ok',
      });
      await Promise.all([1, 2].map(() => run(on, { machine: fate, retries: 3 })));
      expect(on.emailsByAddress()).toEqual(ONCE);
    }
  });

  it('is found on another machine, and after the state folder was lost', async () => {
    for (const listMetadata of ['shown', 'null', 'empty', 'missing'] as const) {
      const on = await start({ listMetadata });
      await run(on, { machine: `a-${listMetadata}` });
      expect(await run(on, { machine: `b-${listMetadata}` })).toMatchObject({ by: 'earlier' });
      expect(on.stored).toHaveLength(1);
    }
  });

  it('is independent at another service and with the key of another organization', async () => {
    const on = await start({ fateOf: firstOnly('lost') });
    const other = await FaultyService.start(clock);
    try {
      await codeOf(run(on, killedProcess(memoryOf('one'), clock)));
      expect(await run(other)).toMatchObject({ by: 'reply' });
      expect(await run(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
      expect([on.emailsByAddress(), other.emailsByAddress()]).toEqual([ONCE, ONCE]);
    } finally {
      await other.close();
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

  it('is not sent if somebody cancels its draft, and sent by the same command again', async () => {
    const on = await start({
      fateOf: ({ path }) => {
        const [made] = on.stored;
        if (path.endsWith('/send') && made?.envelope.status === 'DRAFT') made.envelope.status = 'CANCELLED';
        return 'ok';
      },
    });
    await expect(run(on)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringContaining('env_1') as unknown,
    });
    expect(on.emails).toEqual([]);
    on.behavior.fateOf = () => 'ok';
    expect(await run(on)).toMatchObject({ envelope: { status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });
});

describe('a response that reports a success without an envelope', () => {
  it.each<Fate>(['no body', 'no envelope'])(
    'ends unknown and emails nobody if it always comes: %s',
    async (fate) => {
      const on = await start({ fateOf: () => fate });
      await expect(run(on)).rejects.toMatchObject({
        code: 'UNKNOWN_OUTCOME',
        message: expect.stringContaining('order-1') as unknown,
      });
      expect(on.emails).toEqual([]);
      // The same command is safe.
      on.behavior.fateOf = () => 'ok';
      expect(await run(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
      expect(await run(on, { machine: 'two' })).toMatchObject({ by: 'earlier' });
      expect(on.emailsByAddress()).toEqual(ONCE);
    },
  );

  it.each<Fate>(['no body', 'lost', 408, 500])('does not matter when the draft is sent: %s', async (fate) => {
    const on = await start({ fateOf: ({ path }) => (path.endsWith('/send') ? fate : 'ok') });
    expect(await run(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it('means sent, even if it still shows a draft', async () => {
    const on = await start({ sentReply: 'DRAFT' });
    expect(await run(on)).toMatchObject({ envelope: { status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });
});

describe('an envelope ID of any form', () => {
  it.each([
    ['Base64', (number: number) => `Ab+/${number}9==`],
    ['with blanks', (number: number) => `a b ${number}`],
    ['with other letters', (number: number) => `ümläut ${number}`],
    ['a number as a text', (number: number) => `471${number}`],
    ['too long for the log', (number: number) => 'x'.repeat(501) + number],
  ])('is found again after a lost response: %s', async (_, idOf) => {
    const on = await start({ idOf, fateOf: firstOnly('lost') });
    expect(await run(on)).toMatchObject({ envelope: { id: idOf(1), status: 'SENT' } });
    expect(await run(on)).toMatchObject({ by: 'earlier', envelope: { id: idOf(1) } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it.each([
    ['like a flag', (number: number) => `--yes${number}`],
    ['empty', () => ''],
  ])('is refused if it is %s, and nobody is emailed', async (_, idOf) => {
    const on = await start({ idOf });
    for (let times = 0; times < 2; times++)
      expect(await codeOf(run(on))).toMatch(/^(UNKNOWN_OUTCOME|BAD_RESPONSE)$/);
    expect(on.emails).toEqual([]);
  });
});

describe('a request ID that the service shows in another form', () => {
  it.each<[string, string, (text: string) => unknown]>([
    ['as a number', '4711', (text) => (/^\d+$/.test(text) ? Number(text) : text)],
    ['in another Unicode form', 'Auftrag Müller é', (text) => text.normalize('NFD')],
    ['composed, of a decomposed one', 'Auftrag Müller'.normalize('NFD'), (text) => text.normalize('NFC')],
    ['with blanks around it', 'order-1', (text) => ` ${text} `],
  ])('is recognized on every machine: %s', async (_, requestId, textIn) => {
    const on = await start({ textIn, fateOf: firstOnly('lost') });
    expect(await run(on, { requestId })).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    for (const machine of ['one', 'two']) {
      const again = await run(on, { machine, requestId });
      expect(again).toMatchObject({ by: 'earlier', envelope: { id: 'env_1' } });
      expect(again.warning).toBeUndefined();
    }
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it.each<[string, string, (text: string) => unknown]>([
    ['cut', 'a-rather-long-order-number-1', (text) => text.slice(0, 20)],
    ['in lower case', 'Order-1', (text) => text.toLowerCase()],
    ['without leading zeros', '0042', (text) => (/^\d+$/.test(text) ? Number(text) : text)],
    ['hidden', 'order-1', () => '***'],
  ])('proves nothing, so it is recorded only on this machine: %s', async (_, requestId, textIn) => {
    const on = await start({ textIn });
    expect(await run(on, { requestId })).toMatchObject({ warning: { code: 'REQUEST_ID_NOT_ECHOED' } });
    expect(await run(on, { requestId })).toMatchObject({ by: 'earlier', envelope: { id: 'env_1' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
    // After a lost response, nothing can be proved.
    const lost = await start({ textIn, fateOf: firstOnly('lost') });
    for (let times = 0; times < 3; times++) {
      expect(await codeOf(run(lost, { machine: 'lost', requestId }))).toBe('UNKNOWN_OUTCOME');
      await clock.sleep(10 * MINUTE);
    }
    expect(lost.emails).toEqual([]);
  });
});

describe('a service that shows no metadata', () => {
  it('lets the local log decide, with a notice', async () => {
    const on = await start({ keys: 'dropped' });
    expect(await run(on)).toMatchObject({ warning: { code: 'REQUEST_ID_NOT_ECHOED' } });
    expect(await run(on)).toMatchObject({ by: 'earlier' });
    expect(statuses(on)).toEqual(['SENT']);
    expect((await run(await start({ keys: 'lower-cased' }), { machine: 'two' })).warning).toBeUndefined();
  });

  it('sends nothing after a lost response, names the draft, and leaves no more of them', async () => {
    const on = await start({ keys: 'dropped', fateOf: firstOnly('lost') });
    for (let times = 0; times < 3; times++) {
      await expect(run(on)).rejects.toMatchObject({
        code: 'UNKNOWN_OUTCOME',
        message: expect.stringMatching(/order-1.*env_2 is a draft\. Nobody was emailed/) as unknown,
      });
      await clock.sleep(10 * MINUTE);
    }
    expect(statuses(on)).toEqual(['DRAFT', 'DRAFT']);
  });
});

it.each([
  ['is empty', ''],
  ['is blank', '  '],
  ['begins with a blank', ' order-1'],
  ['ends with a line break', 'order-1\n'],
  ['ends with a no-break space', 'order-1\u00a0'],
  ['is longer than 200 characters', 'x'.repeat(201)],
])('a request ID is refused before anything is sent if it %s', async (_, requestId) => {
  const on = await start();
  const options = { memory: new ProcessMemory() };
  await expect(createOnce(on.client(), createBody(wanted, requestId), options)).rejects.toMatchObject({
    code: 'USAGE',
  });
  expect(on.seen).toEqual([]);
});

const SEED = Number(process.env.FAULT_SEED ?? 1);
const RUNS = Number(process.env.CREATE_RUNS ?? 25);

it(`emails nobody twice in ${RUNS} random services, from FAULT_SEED=${SEED}`, {
  timeout: 120_000,
}, async () => {
  const fates: [Fate, ...Fate[]] = ['ok', 'lost', 'never came', 'late', 'no body', 'late 504', 408, 499, 500];
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
    for (let tries = 0; tries < 6; tries++)
      await codeOf(run(on, { machine: pick([`m-${seed}`, `m-${seed}`, `n-${seed}`]) }));
    on.behavior.fateOf = () => 'ok';
    await clock.sleep(2 * MINUTE);
    await run(on, { machine: `o-${seed}` });
    expect({ seed, emails: on.emailsByAddress() }).toEqual({ seed, emails: ONCE });
  }
});
