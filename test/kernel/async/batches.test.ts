import { expect, it } from 'vitest';
import { Batches } from '../../../src/kernel/async/batches.ts';

it('works on what is added during a batch in the next one, and fails only the calls of a failed batch', async () => {
  const done: (readonly number[])[] = [];
  const batches = new Batches(async (items: readonly number[]) => {
    await Promise.resolve();
    if (items.includes(2)) throw new Error('two');
    done.push(items);
    return items.length;
  });
  const first = batches.add([1]);
  await Promise.resolve();
  const failing = [batches.add([2]), batches.add([3])];
  expect(await first).toBe(1);
  expect(await Promise.allSettled(failing)).toMatchObject([
    { reason: { message: 'two' } },
    { status: 'rejected' },
  ]);
  const last = [batches.add([4]), batches.add([5])];
  await batches.end();
  expect(done).toEqual([[1], [4, 5]]);
  expect(await Promise.all(last)).toEqual([2, 2]);
});
