import { describe, expect, it } from 'vitest';
import { mapAhead } from '../../src/kernel/streams.ts';

/** Work whose end the test decides. */
function gates(count: number) {
  const started: number[] = [];
  const open: (() => void)[] = [];
  const fail: ((error: Error) => void)[] = [];
  const waits = Array.from(
    { length: count },
    (_, index) =>
      new Promise<number>((resolve, reject) => {
        open[index] = () => resolve(index);
        fail[index] = reject;
      }),
  );
  const work = (index: number) => {
    started.push(index);
    return waits[index] ?? Promise.resolve(index);
  };
  return { started, open, fail, work };
}

describe('mapAhead', () => {
  it('works on while the first result is waited for, and yields in order', async () => {
    const { started, open, work } = gates(5);
    const results = mapAhead([0, 1, 2, 3, 4], 2, work);
    const first = results.next();
    for (const index of [1, 2, 3, 4]) open[index]?.();
    await new Promise(setImmediate);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    open[0]?.();
    const all = [(await first).value];
    for await (const value of results) all.push(value);
    expect(all).toEqual([0, 1, 2, 3, 4]);
  });

  it('never runs more than its limit', async () => {
    let running = 0;
    let most = 0;
    const work = async (item: number) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return item;
    };
    for await (const _ of mapAhead(
      Array.from({ length: 50 }, (_, i) => i),
      7,
      work,
    ));
    expect(most).toBe(7);
  });

  it('starts nothing after a failure and waits for what runs', async () => {
    const { started, open, fail, work } = gates(6);
    const results = mapAhead([0, 1, 2, 3, 4, 5], 2, work);
    const first = results.next();
    let ended = false;
    const outcome = first.catch((error: unknown) => {
      ended = true;
      return error;
    });
    fail[0]?.(new Error('broken'));
    await new Promise(setImmediate);
    expect(ended).toBe(false);
    for (const release of open) release();
    expect(await outcome).toMatchObject({ message: 'broken' });
    expect(started.length).toBeLessThanOrEqual(3);
  });
});
