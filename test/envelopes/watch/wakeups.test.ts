import { describe, expect, it } from 'vitest';
import { type WatchEvent, type WatchOptions, watchEnvelopes } from '../../../src/envelopes/watch/watch.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { idsOf, Model } from './model.ts';

/** A clock whose sleepers never wake by themselves. */
function clockWithoutTimers(model: Model): Clock {
  return {
    now: model.clock.now,
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
}

/** A stream that the test writes to. */
function wakeupSource() {
  const waiting: ((result: IteratorResult<{ envelopeId: string }>) => void)[] = [];
  const queued: { envelopeId: string }[] = [];
  let closed = false;
  const next = (): Promise<IteratorResult<{ envelopeId: string }>> => {
    const value = queued.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    return new Promise((resolve) => {
      waiting.push(resolve);
    });
  };
  const end = () => {
    closed = true;
    return Promise.resolve({ done: true as const, value: undefined });
  };
  return {
    wake: (envelopeId: string) => {
      const one = waiting.shift();
      if (one) one({ done: false, value: { envelopeId } });
      else queued.push({ envelopeId });
    },
    isClosed: () => closed,
    stream: { [Symbol.asyncIterator]: () => ({ next, return: end }) },
  };
}

function start(model: Model, ids: string[], options: Partial<WatchOptions>) {
  const client = { ...model.client, clock: clockWithoutTimers(model) };
  return watchEnvelopes(client, ids, { until: ['COMPLETED'], intervalMs: 60_000, ...options });
}

async function nextChange(events: AsyncGenerator<WatchEvent, void, undefined>) {
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error('it ended');
    if (value.type === 'change') return value.change;
  }
}

describe('a wake-up', () => {
  it('polls the named envelope immediately, and nothing else', async () => {
    const ids = idsOf(40);
    const model = new Model(ids);
    const { wake, stream, isClosed } = wakeupSource();
    const events = start(model, ids, { wakeups: stream });
    for (let i = 0; i < 40; i++) await nextChange(events);
    const before = model.requests;
    model.advance('env_9');
    wake('env_9');
    expect(await nextChange(events)).toMatchObject({ envelopeId: 'env_9', signer: 's0@example.com' });
    expect(model.requests).toBe(before + 1);
    // A wake-up without a change, one for an unwatched envelope, and two for one change.
    for (const id of ['env_3', 'env_elsewhere', 'env_9', 'env_9']) wake(id);
    model.advance('env_9');
    wake('env_9');
    expect(await nextChange(events)).toMatchObject({ envelopeId: 'env_9', to: 'IN_PROGRESS' });
    expect(model.requests).toBeLessThan(before + 8);
    await events.return();
    expect(isClosed()).toBe(true);
  });

  it('polls lists if very many are named at the same time', async () => {
    const ids = idsOf(500);
    const model = new Model(ids);
    const { wake, stream } = wakeupSource();
    const events = start(model, ids, { wakeups: stream });
    for (let i = 0; i < 500; i++) await nextChange(events);
    const before = model.requests;
    for (const id of ids) model.advance(id);
    for (const id of ids) wake(id);
    const reported = new Set<string>();
    while (reported.size < 500) reported.add((await nextChange(events)).envelopeId);
    expect(model.requests - before).toBeLessThanOrEqual(20);
    await events.return();
  });

  it('adds a new envelope if active ones are followed', async () => {
    const model = new Model(['env_0']);
    const { wake, stream } = wakeupSource();
    const events = start(model, [], { wakeups: stream, discover: ['SENT'], endless: true });
    await nextChange(events);
    model.add('env_new');
    wake('env_new');
    expect(await nextChange(events)).toMatchObject({ envelopeId: 'env_new', from: null, to: 'SENT' });
    await events.return();
  });

  it('reports when the events end in an error, and watching continues', async () => {
    const model = new Model(['env_0'], { onSleep: () => model.advance('env_0') });
    const broken = new Error('the journal is gone');
    async function* wakeups() {
      await Promise.resolve();
      yield { envelopeId: 'env_0' };
      throw broken;
    }
    const events: WatchEvent[] = [];
    const options = { until: ['COMPLETED'], intervalMs: 1_000, wakeups: wakeups() };
    for await (const event of watchEnvelopes(model.client, ['env_0'], options)) events.push(event);
    expect(events.filter((event) => event.type === 'wakeupsFailed')).toEqual([
      { type: 'wakeupsFailed', error: broken },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'change', change: { to: 'COMPLETED' } });
  });
});
