import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import { LogFolder, logFolder } from '../../src/log/log-folder.ts';
import { bodyHashOf } from '../../src/log/write-keys.ts';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { createBody, type EnvelopeInput } from '../../src/once/create-body.ts';
import { createOnce } from '../../src/once/create-envelope.ts';
import { createNow } from '../../src/once/create-now.ts';
import type { CreateResult } from '../../src/once/created.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { FaultyService } from '../support/faulty-service.ts';
import { newFolder } from '../support/folder.ts';
import { codeOf, firstOnly, killedProcess } from '../support/interrupting.ts';
import type { Behavior, Fate } from '../support/service-behavior.ts';

/* The same command, without a request ID, after one whose outcome isn't known: somebody presses Up and Enter. */

const wanted: EnvelopeInput = {
  templateId: 'tmpl_nda',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  send: true,
};
const ONCE = { 'ada@example.com': 1 };
const FOUND = { by: 'earlier', envelope: { id: 'env_1' }, warning: { code: 'INTERRUPTED_CREATE_FOUND' } };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let folder: string;
let clock: FakeClock;
let memory: WriteMemory;
beforeEach(() => {
  folder = newFolder();
  clock = fakeClock();
  memory = new LogFolder(logFolder(folder), clock);
});
const start = (behavior: Behavior = {}) => FaultyService.start(clock, behavior);

interface Run {
  time?: Clock;
  memory?: WriteMemory;
  apiKey?: string;
  graceMs?: number;
  signal?: AbortSignal;
  requestId?: string;
  change?: Partial<EnvelopeInput>;
}

/** One run of the command, whose request ID is a new one. */
function create(on: FaultyService, options: Run = {}): Promise<CreateResult> {
  const { time = clock, memory: own = memory, signal, requestId = randomUUID(), change, ...more } = options;
  const client = on.client(time, own, more);
  return createNow(client, createBody({ ...wanted, ...change }, requestId), { memory: own, signal });
}

/** The command that an unknown outcome names. */
function safeCommand(on: FaultyService, requestId: string): Promise<CreateResult> {
  return createOnce(on.client(clock, memory), createBody(wanted, requestId), { memory });
}

/** Runs the command in a process that is killed after its request was answered. */
const interrupt = (on: FaultyService, options: Run = {}) =>
  codeOf(create(on, { ...options, ...killedProcess(memory, clock) }));

const writesOf = async (on: FaultyService) =>
  (await memory.find([bodyHashOf(createBody(wanted, ''))])).filter(
    ({ intent }) => intent.baseUrl === on.baseUrl,
  );

describe('the same command after a kill', () => {
  it.each<[string, Behavior]>([
    ['was answered', {}],
    ['was answered, and the list lags', { listLagMs: 55_000 }],
    ['lost its response', { fateOf: firstOnly('lost') }],
    ['was answered without a body', { fateOf: firstOnly('no body'), listLagMs: 20_000 }],
    ['was answered without an envelope', { fateOf: firstOnly('no envelope'), listLagMs: 20_000 }],
    ['is not found for a while', { getLagMs: 15_000, listLagMs: 30_000 }],
  ])('finds the envelope of the request that %s', async (_, behavior) => {
    const on = await start(behavior);
    await interrupt(on);
    expect(await create(on)).toMatchObject(FOUND);
    expect(on.emailsByAddress()).toEqual(ONCE);
    expect(await create(on)).toMatchObject({ by: 'reply' });
  });

  it('creates one once the list must show what the request did, which never arrived', async () => {
    const on = await start({ fateOf: firstOnly('never came') });
    await interrupt(on);
    expect(await create(on)).toMatchObject({ by: 'reply' });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it('finds the envelope of a process that is still trying, and sends once more', async () => {
    const on = await start({ fateOf: firstOnly('never came'), listLagMs: 45_000 });
    await interrupt(on);
    const [write] = await writesOf(on);
    if (write === undefined) throw new Error('no write');
    let isSent = false;
    const time: Clock = {
      now: clock.now,
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (isSent || clock.now() < Date.parse(write.intent.at) + 100_000) return;
        isSent = true;
        const at = new Date(clock.now()).toISOString();
        const until = new Date(clock.now() + MINUTE).toISOString();
        await memory.append([{ ...write.intent, at, until, serviceAt: at }]);
        await on.client(clock).envelopes.create(createBody(wanted, write.intent.requestId ?? ''));
      },
    };
    expect(await create(on, { time })).toMatchObject(FOUND);
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it.each([
    ['another service', true],
    ['another organization at the same service', false],
  ])("creates a new envelope at %s, and doesn't touch the interrupted one", async (_, isOther) => {
    const on = await start();
    const other = isOther ? await start() : on;
    await interrupt(on);
    expect(await create(other, { apiKey: 'sk_other_0123456789' })).toMatchObject({ by: 'reply' });
    expect(await writesOf(on)).toContainEqual(expect.objectContaining({ state: 'open' }));
    expect(await create(on)).toMatchObject(FOUND);
    expect(on.emailsByAddress()).toEqual(isOther ? ONCE : { 'ada@example.com': 2 });
  });

  it.each([
    ['2 hours ahead', 120 * MINUTE],
    ['2 hours behind', -120 * MINUTE],
    ['in 2030', Date.UTC(2030, 0, 1) - Date.UTC(2026, 0, 2)],
  ])('finds the envelope if the clock of the first one was %s', async (_, skew) => {
    for (const dateSkewMs of [0, 'no header'] as const) {
      // Nothing shows that the clock was behind, so the envelope has to be in the list by now.
      const on = await start({ dateSkewMs, listLagMs: skew < 0 ? 0 : 20_000 });
      const wrong: Clock = { now: () => clock.now() + skew, sleep: clock.sleep };
      const { time, memory: own } = killedProcess(memory, wrong);
      await codeOf(create(on, { time, memory: own }));
      expect(await create(on)).toMatchObject(FOUND);
      expect(on.emailsByAddress()).toEqual(ONCE);
    }
  });

  it.each<[string, Partial<EnvelopeInput>]>([
    ['signers', { signers: [{ email: 'ada@example.com', name: 'Ada L' }] }],
    ['a subject', { subject: 'Other' }],
    ['metadata', { metadata: { deal: 2 } }],
  ])('is a new one with other %s', async (_, change) => {
    const on = await start();
    await interrupt(on);
    expect(await create(on, { change })).toMatchObject({ by: 'reply' });
  });

  it('is a new one a day later, or once the envelope was canceled', async () => {
    const on = await start();
    await interrupt(on);
    const [first] = on.stored;
    if (first) first.envelope.status = 'CANCELLED';
    expect(await create(on)).toMatchObject({ by: 'reply', envelope: { id: 'env_2' } });
    await interrupt(on);
    await clock.sleep(DAY);
    expect(await create(on)).toMatchObject({ by: 'reply', envelope: { id: 'env_4' } });
  });

  it('sends the envelope if it is still a draft', async () => {
    const on = await start({ onlyDrafts: true });
    await interrupt(on, killedProcess(memory, clock));
    const [made] = on.stored;
    if (made) made.envelope.status = 'DRAFT';
    on.emails.length = 0;
    expect(await create(on)).toMatchObject({ ...FOUND, envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it('creates nothing if the service shows no request IDs', async () => {
    const on = await start({ keys: 'dropped' });
    await interrupt(on);
    for (let times = 0; times < 2; times++) {
      expect(await codeOf(create(on))).toBe('UNKNOWN_OUTCOME');
      await clock.sleep(10 * MINUTE);
    }
    expect(on.stored).toHaveLength(1);
  });

  it('finds the envelope in one process without a state folder', async () => {
    const on = await start({ listLagMs: 70_000, fateOf: firstOnly('lost') });
    const own = new ProcessMemory();
    expect(await codeOf(create(on, { memory: own }))).toBe('UNKNOWN_OUTCOME');
    expect(await create(on, { memory: own })).toMatchObject(FOUND);
    expect(on.emailsByAddress()).toEqual(ONCE);
  });
});

describe('after an unknown outcome', () => {
  const CASES: [string, Behavior][] = [
    ['an early 504 and a late effect', { fateOf: firstOnly('late 504'), lateMs: 20_000, listLagMs: 45_000 }],
    ['a lost response and a late effect', { fateOf: firstOnly('late'), lateMs: 29_000, listLagMs: 50_000 }],
    ['no effect', { fateOf: firstOnly('never came') }],
  ];

  it.each(CASES)('the same command and the one that the error names email once: %s', async (_, behavior) => {
    for (const which of ['same', 'named'] as const) {
      const on = await start(behavior);
      const requestId = `generated-${which}`;
      await expect(create(on, { requestId })).rejects.toMatchObject({
        code: 'UNKNOWN_OUTCOME',
        hint: expect.stringContaining(`--request-id ${requestId}`) as unknown,
      });
      const again = () => (which === 'same' ? create(on) : safeCommand(on, requestId));
      expect(await again()).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
      await clock.sleep(2 * MINUTE);
      expect(await safeCommand(on, requestId)).toMatchObject({ envelope: { status: 'SENT' } });
      expect(on.emailsByAddress()).toEqual(
        which === 'same' && _ === 'no effect' ? { 'ada@example.com': 2 } : ONCE,
      );
    }
  });

  it.each<[Fate, Behavior]>([
    ['no body', { listLagMs: 59_000 }],
    ['no envelope', { listLagMs: 59_000 }],
    ['late', { lateMs: 25_000, listLagMs: 40_000 }],
  ])('of a search that was stopped, the named command emails once: %s', async (fate, behavior) => {
    const on = await start({ ...behavior, fateOf: firstOnly(fate) });
    const requestId = 'generated-1';
    const controller = new AbortController();
    const sleep: Clock['sleep'] = async (ms, signal) => {
      await clock.sleep(ms, signal);
      controller.abort(new Error('stopped'));
      // As at the end of the grace period.
      throw new Error('stopped');
    };
    const stopped = { signal: controller.signal, graceMs: 1_000, time: { now: clock.now, sleep } };
    expect(await codeOf(create(on, { requestId, ...stopped }))).toBe('UNKNOWN_OUTCOME');
    expect(await safeCommand(on, requestId)).toMatchObject({ envelope: { status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });
});

describe('a create that should be sent immediately, but is answered with a draft', () => {
  it.each<Fate>(['ok', 'lost', 'no body', 500])('is sent: %s', async (fate) => {
    const on = await start({ onlyDrafts: true, fateOf: firstOnly(fate) });
    expect(await create(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.emailsByAddress()).toEqual(ONCE);
  });

  it('stays one if it was not to be sent', async () => {
    const on = await start();
    expect(await create(on, { change: { send: false } })).toMatchObject({ envelope: { status: 'DRAFT' } });
    expect(on.emails).toEqual([]);
  });
});
