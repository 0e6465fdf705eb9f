import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import type { Envelope } from '../../src/api/resource-types.ts';
import { type WatchEvent, watchEnvelopes } from '../../src/envelopes/watch/watch-envelopes.ts';
import { ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';

type Look = Envelope | Error;
const at = (status: string, ...signers: string[]): Envelope => ({
  id: 'env_1',
  status,
  signers: signers.map((state, i) => ({ email: `s${i}@example.com`, status: state })),
});

/** A client that answers each poll with the next of a list; the last one repeats. */
function showing(looks: Look[], clock = fakeClock()): { client: Client; slept: number[] } {
  const client = clientFor('http://127.0.0.1:1', { clock });
  let next = 0;
  const get = () => {
    const look = looks[Math.min(next++, looks.length - 1)];
    return look instanceof Error ? Promise.reject(look) : Promise.resolve(look ?? at('DRAFT'));
  };
  const envelopes = { ...client.envelopes, get, getListed: get };
  return { client: { ...client, envelopes }, slept: clock.slept };
}

async function watch(
  looks: Look[],
  until = ['COMPLETED'],
  clock = fakeClock(),
): Promise<{ events: WatchEvent[]; slept: number[] }> {
  const { client, slept } = showing(looks, clock);
  const events: WatchEvent[] = [];
  for await (const event of watchEnvelopes(client, ['env_1'], {
    until,
    intervalMs: 5_000,
    random: () => 0.5,
  }))
    events.push(event);
  return { events, slept };
}

const moves = (events: WatchEvent[]) =>
  events.flatMap((event) =>
    event.type === 'change' ? [[event.change.from, event.change.to, event.change.signer]] : [],
  );

describe('watching', () => {
  it('names the signer who acted, even if the status stays the same', async () => {
    const looks = [
      at('SENT', 'SENT', 'SENT'),
      at('SENT', 'VIEWED', 'SENT'),
      at('IN_PROGRESS', 'SIGNED', 'SENT'),
      at('COMPLETED', 'SIGNED', 'SIGNED'),
    ];
    expect(moves((await watch(looks)).events)).toEqual([
      [null, 'SENT', null],
      ['SENT', 'SENT', 's0@example.com'],
      ['SENT', 'IN_PROGRESS', 's0@example.com'],
      ['IN_PROGRESS', 'COMPLETED', 's1@example.com'],
    ]);
  });

  it('reports two signers between two polls one by one, and the status with the last one', async () => {
    const looks = [at('SENT', 'SENT', 'SENT'), at('COMPLETED', 'SIGNED', 'SIGNED')];
    expect(moves((await watch(looks)).events).slice(1)).toEqual([
      ['SENT', 'SENT', 's0@example.com'],
      ['SENT', 'COMPLETED', 's1@example.com'],
    ]);
  });

  it('does not pause longer when the clock is set back', async () => {
    const clock = fakeClock();
    const sleep = clock.sleep;
    clock.sleep = async (...words) => {
      await sleep(...words);
      clock.time -= clock.slept.length === 1 ? 3_600_000 : 0;
    };
    const { slept } = await watch([at('SENT'), at('COMPLETED')], undefined, clock);
    expect(slept).toEqual([5_000, 5_000]);
  });

  it('fails on a permanent error', async () => {
    const refused = new ServiceError('UNAUTHORIZED', 'no', { status: 401 });
    await expect(watch([at('SENT'), refused])).rejects.toBe(refused);
  });
});
