import { expect, it, vi } from 'vitest';
import type { EnvelopeRecord } from '../../../src/sandbox/model.ts';
import { DEFAULT_RULES } from '../../../src/sandbox/service/base/choices.ts';
import { MAX_OFFSET_MS, SandboxClock } from '../../../src/sandbox/service/base/sandbox-clock.ts';
import { advanceClock } from '../../../src/sandbox/service/engine/advance.ts';
import { draftEnvelope } from '../../../src/sandbox/service/engine/draft.ts';
import { StoreState } from '../../../src/sandbox/service/store/state.ts';
import { ada, lease } from './rig.ts';

const HOUR = 3_600_000;

/** A machine's clock that stands still. */
function stoppedClock() {
  const clock = {
    time: Date.UTC(2026, 0, 2),
    now: () => clock.time,
    sleep: () => new Promise<void>(() => {}),
  };
  return clock;
}

/** Advances the clock by a day. Returns the offsets, in hours, at which it stopped. */
async function stopsOf(envelopes: [string, number, Partial<EnvelopeRecord>?][], isSlow = false) {
  const realClock = stoppedClock();
  const clock = new SandboxClock(realClock);
  const state = new StoreState();
  for (const [id, hours, more] of envelopes) {
    const body = { templateId: lease.id, signers: [ada], webhookUrl: 'http://127.0.0.1/hook' };
    const facts = { randomId: () => '1', rules: DEFAULT_RULES };
    const draft = draftEnvelope('org_1', lease, body, realClock.now(), facts);
    const expiresAt = new Date(realClock.now() + hours * HOUR).toISOString();
    state.apply({ kind: 'envelope', value: { ...draft, id, status: 'SENT', expiresAt, ...more } });
  }
  const whenIdle = vi.fn(() => {
    if (isSlow) realClock.time += 5_000;
    return Promise.resolve();
  });
  const wake = vi.fn();
  const commit = vi.fn(() => Promise.resolve());
  const stops: number[] = [];
  await advanceClock(
    24 * HOUR,
    { store: { state, commit }, clock, realClock, sender: { nextDue: undefined, wake, whenIdle } },
    () => {
      stops.push(clock.offsetMs / HOUR);
      return Promise.resolve();
    },
  );
  expect(commit).toHaveBeenCalledWith([{ kind: 'clock', value: 24 * HOUR }]);
  expect(wake.mock.calls).toEqual(stops.map(() => [true]));
  return stops;
}

it('stops at every time at which an envelope with a webhook expires, earliest first', async () => {
  expect(
    await stopsOf([
      ['env_1', 10],
      ['env_2', 9],
      ['env_3', 100 / 9],
      ['env_4', 9],
    ]),
  ).toEqual([9, 10, 11 + 400 / 3_600, 24]);
});

it.each<[string, number, Partial<EnvelopeRecord>]>([
  ['has no webhook', 2, { webhookUrl: null }],
  ['expires exactly at the end', 24, {}],
  ['expires later', 25, {}],
])('does not stop for an envelope that %s', async (_, hours, more) => {
  expect(await stopsOf([['env_1', hours, more]])).toEqual([24]);
});

it('does not stop for an envelope that has ended in the meantime', async () => {
  const realClock = stoppedClock();
  const clock = new SandboxClock(realClock);
  const state = new StoreState();
  const facts = { randomId: () => '1', rules: DEFAULT_RULES };
  const body = { templateId: lease.id, signers: [ada], webhookUrl: 'http://127.0.0.1/hook' };
  const one = draftEnvelope('org_1', lease, body, realClock.now(), facts);
  state.apply({ kind: 'envelope', value: { ...one, status: 'SENT' } });
  state.apply({ kind: 'envelope', value: { ...one, status: 'CANCELLED' } });
  const catchUp = vi.fn(() => Promise.resolve());
  const sender = { nextDue: undefined, wake: () => undefined, whenIdle: () => Promise.resolve() };
  const store = { state, commit: () => Promise.resolve() };
  await advanceClock(1_000 * HOUR, { store, clock, realClock, sender }, catchUp);
  expect(catchUp).toHaveBeenCalledTimes(1);
});

it('does not stop anymore after five seconds of waiting for webhooks', async () => {
  expect(
    await stopsOf(
      [
        ['env_1', 1],
        ['env_2', 2],
      ],
      true,
    ),
  ).toEqual([24]);
});

it('refuses to advance by more than a century', async () => {
  const clock = new SandboxClock(stoppedClock());
  const store = { state: new StoreState(), commit: () => Promise.resolve() };
  const sender = { nextDue: undefined, wake: () => undefined, whenIdle: () => Promise.resolve() };
  const parts = { store, clock, realClock: stoppedClock(), sender };
  const work = advanceClock(MAX_OFFSET_MS + 1, parts, () => Promise.resolve());
  await expect(work).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { ms: [expect.any(String)] },
  });
});
