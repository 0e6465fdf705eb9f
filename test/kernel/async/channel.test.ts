import { expect, it } from 'vitest';
import { Channel } from '../../../src/kernel/async/channel.ts';

async function all(channel: Channel<number>, seen: number[] = []): Promise<number[]> {
  for await (const value of channel) seen.push(value);
  return seen;
}

it('returns pushed values in order, whether they are pushed before, during, or after a wait', async () => {
  const channel = new Channel<number>();
  channel.push(1);
  const seen = all(channel);
  await new Promise((resolve) => setImmediate(resolve));
  channel.push(2);
  channel.push(3);
  channel.close();
  channel.push(4);
  expect(await seen).toEqual([1, 2, 3]);
});

it('a channel ends with the error after all earlier values', async () => {
  const channel = new Channel<number>();
  channel.push(1);
  channel.close({ error: new Error('broken') });
  const seen: number[] = [];
  await expect(all(channel, seen)).rejects.toThrow('broken');
  expect(seen).toEqual([1]);
});
