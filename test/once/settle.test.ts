import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { createBody } from '../../src/once/create-body.ts';
import { createOnce } from '../../src/once/create-envelope.ts';
import { createNow } from '../../src/once/create-now.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { FaultyService } from '../support/faulty-service.ts';
import { codeOf, firstOnly } from '../support/interrupting.ts';
import type { Behavior } from '../support/service-behavior.ts';

/* When the list is read that decides which draft is sent. */

const signers = [{ email: 'ada@example.com', name: 'Ada' }];
const body = createBody({ templateId: 'tmpl_nda', signers, send: true }, 'order-1');
let clock: FakeClock;
let memory: WriteMemory;
let service: FaultyService;
beforeEach(() => {
  clock = fakeClock();
  memory = new ProcessMemory();
});
afterEach(() => service.close());

async function start(behavior: Behavior = {}): Promise<FaultyService> {
  service = await FaultyService.start(clock, behavior);
  return service;
}

const run = (on: FaultyService) => createOnce(on.client(clock, memory), body, { memory });
const requests = (on: FaultyService) =>
  on.seen.map(({ method, path }) => `${method} ${path.replace('/api/v1/esign', '')}`);

describe('the deciding reading', () => {
  it('follows two seconds after the reading that shows the draft, without any other wait', async () => {
    const on = await start();
    await run(on);
    expect(clock.slept).toEqual([2_000]);
    const [posted, sent] = [
      requests(on).indexOf('POST /envelopes'),
      requests(on).indexOf('POST /envelopes/env_1/send'),
    ];
    expect(
      requests(on)
        .slice(posted + 1, sent)
        .every((one) => one === 'GET /envelopes'),
    ).toBe(true);
  });

  it('waits until the list shows the draft, however long that takes', async () => {
    const on = await start({ listLagMs: 40_000 });
    await run(on);
    expect(clock.slept.at(-1)).toBe(2_000);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(42_000);
  });

  it('is when the list must show what an interrupted create on this machine did', async () => {
    const on = await start({ fateOf: firstOnly('never came') });
    expect(await codeOf(createNow(on.client(clock, memory), body, { memory }))).toBe('UNKNOWN_OUTCOME');
    const endedAt = clock.now();
    await run(on);
    // Its request could have been processed until it timed out, a minute after the outcome was recorded, and listed a minute later.
    expect(clock.now() - endedAt).toBeGreaterThanOrEqual(60_000);
    expect(on.emails).toHaveLength(1);
  });

  it('does not wait for a lost draft, because that emails nobody', async () => {
    const on = await start({ fateOf: firstOnly('never came') });
    await run(on);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(5_000);
  });
});

describe('a draft that the list does not show', () => {
  it('is not sent, and named; the same command takes it over', async () => {
    const on = await start({ listLagMs: 200_000 });
    await expect(run(on)).rejects.toMatchObject({
      code: 'UNKNOWN_OUTCOME',
      message: expect.stringContaining('env_1') as unknown,
    });
    expect(on.emails).toEqual([]);
    await clock.sleep(200_000);
    expect(await run(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.stored).toHaveLength(1);
  });
});

describe('a draft that is refused when it is sent', () => {
  it('is named, with the code of the refusal', async () => {
    const on = await start({ refusesSend: true });
    await expect(run(on)).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
      message: expect.stringContaining('env_1 is a draft. Nobody was emailed.') as unknown,
      hint: expect.stringContaining('esign envelopes cancel env_1') as unknown,
    });
    on.behavior.refusesSend = false;
    expect(await run(on)).toMatchObject({ envelope: { id: 'env_1', status: 'SENT' } });
    expect(on.stored).toHaveLength(1);
  });
});
