import { describe, expect, it } from 'vitest';
import { BodyLimitError, BoundedBody, mapAhead, readBounded } from '../../src/kernel/streams.ts';

/** Work that ends when the test says so. */
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
  it('continues working while the first result is awaited, and yields in order', async () => {
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

  it('never exceeds its concurrency limit', async () => {
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

  it('starts nothing after a failure and waits for running tasks', async () => {
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

describe('a bounded body', () => {
  const pieces = async function* (count: number, piece: Uint8Array) {
    for (let at = 0; at < count; at++) yield await Promise.resolve(piece);
  };

  it('is complete for any chunking', async () => {
    const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, at) => at % 251));
    for (const size of [1, 2, 3, 1_000, 4_999, 5_000, 6_000]) {
      const body = new BoundedBody(5_000);
      for (let at = 0; at < bytes.length; at += size) body.add(bytes.subarray(at, at + size));
      expect(body.bytes().equals(bytes)).toBe(true);
    }
    expect(new BoundedBody(1).bytes()).toHaveLength(0);
  });

  it('may have the maximum size and no more', async () => {
    expect(await readBounded(pieces(10, Buffer.alloc(100)), 1_000)).toHaveLength(1_000);
    await expect(readBounded(pieces(10, Buffer.alloc(100)), 999)).rejects.toThrow(BodyLimitError);
  });

  it('takes at most twice its size in memory', () => {
    const body = new BoundedBody(2 ** 20);
    for (let at = 0; at < 1_000; at++) body.add(Buffer.alloc(300));
    expect(body.bytes().buffer.byteLength).toBeLessThanOrEqual(600_000);
  });
});
