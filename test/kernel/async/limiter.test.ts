import { expect, it } from 'vitest';
import { Limiter } from '../../../src/kernel/async/limiter.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('runs the allowed number at the same time, and the others in order', async () => {
  const limiter = new Limiter(2);
  const begun: number[] = [];
  let [running, most] = [0, 0];
  const work = (n: number) =>
    limiter.run(async () => {
      begun.push(n);
      most = Math.max(most, ++running);
      await turn();
      running--;
      return n;
    });
  const all = await Promise.all([1, 2, 3, 4, 5].map(work));
  expect([all, begun, most]).toEqual([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], 2]);
});

it('frees a slot when work fails', async () => {
  const limiter = new Limiter(1);
  const failing = limiter.run(() => Promise.reject(new Error('no')));
  const next = limiter.run(() => Promise.resolve('yes'));
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
