import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/api/client.ts';
import type { Envelope } from '../../../src/api/schemas.ts';
import { type WatchEvent, watchEnvelopes } from '../../../src/envelopes/watch/watch.ts';
import { NetworkError, ServiceError } from '../../../src/kernel/errors.ts';
import { clientFor } from '../../support/client.ts';
import { fakeClock } from '../../support/clock.ts';

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
  return { client: { ...client, envelopes: { ...client.envelopes, get } }, slept: clock.slept };
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
  it('reports each change once, with from null in the first poll, and ends on the awaited status', async () => {
    const looks = [at('SENT'), at('SENT'), at('IN_PROGRESS'), at('IN_PROGRESS'), at('COMPLETED')];
    expect(moves((await watch(looks)).events)).toEqual([
      [null, 'SENT', null],
      ['SENT', 'IN_PROGRESS', null],
      ['IN_PROGRESS', 'COMPLETED', null],
    ]);
  });

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

  it.each(['COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'])('ends immediately on %s', async (status) => {
    const { events, slept } = await watch([at(status)]);
    expect(moves(events)).toEqual([[null, status, null]]);
    expect(slept).toEqual([]);
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

  it('continues after an unknown status', async () => {
    expect(moves((await watch([at('ARCHIVING'), at('COMPLETED')])).events)).toHaveLength(2);
  });

  it('never reports a status going backwards', async () => {
    const looks = [at('IN_PROGRESS'), at('SENT'), at('IN_PROGRESS'), at('COMPLETED')];
    expect(moves((await watch(looks)).events).map((move) => move[1])).toEqual(['IN_PROGRESS', 'COMPLETED']);
  });

  it('retries in outages with growing delays, and reports when the service is back', async () => {
    const down = new NetworkError('NETWORK', 'down', { maybeReceived: true });
    const busy = new ServiceError('RATE_LIMITED', 'busy', { status: 429 });
    const { events, slept } = await watch([at('SENT'), down, busy, down, at('COMPLETED')]);
    expect(events.map((event) => event.type)).toEqual([
      'change',
      'outage',
      'outage',
      'outage',
      'recovered',
      'change',
    ]);
    expect(slept).toEqual([5_000, 10_000, 20_000, 40_000]);
  });

  it("sleeps until the rate window's end after too many requests, not after another failure", async () => {
    const resetAt = fakeClock().now() + 900_000;
    const failing = new ServiceError('INTERNAL_ERROR', 'oh', { status: 503, resetAt });
    const busy = new ServiceError('RATE_LIMITED', 'busy', { status: 429, resetAt });
    expect((await watch([at('SENT'), failing, at('COMPLETED')])).slept).toEqual([5_000, 10_000]);
    expect((await watch([at('SENT'), busy, at('COMPLETED')])).slept).toEqual([5_000, 895_250]);
  });

  it('fails on a permanent error', async () => {
    const refused = new ServiceError('UNAUTHORIZED', 'no', { status: 401 });
    await expect(watch([at('SENT'), refused])).rejects.toBe(refused);
  });

  it('reports a deleted envelope, and continues with the others', async () => {
    const gone = new ServiceError('NOT_FOUND', 'gone', { status: 404 });
    const { events } = await watch([at('SENT'), gone]);
    expect(events.at(-1)).toEqual({ type: 'gone', id: 'env_1', error: gone });
  });
});

describe('a thousand envelopes', () => {
  /** A service of this many envelopes, half of which change at every poll; it counts requests. */
  function crowd(total: number, lacking: boolean) {
    const clock = fakeClock();
    const client = clientFor('http://127.0.0.1:1', { clock });
    const stages = ['SENT', 'IN_PROGRESS', 'COMPLETED'];
    let [looks, requests] = [0, 0];
    const statusOf = (index: number) => stages[Math.min(2, Math.floor((looks + (index % 5)) / 4))] ?? 'SENT';
    const envelope = (index: number): Envelope => ({ id: `env_${index}`, status: statusOf(index) });
    const whole = (index: number): Envelope => ({
      ...envelope(index),
      signers: [{ email: 'a@b.c', status: statusOf(index) }],
    });
    const get = (id: string) => {
      requests++;
      return Promise.resolve(whole(Number(id.slice(4))));
    };
    const page = (number: number, { status }: { status?: string | undefined } = {}) => {
      requests++;
      const all = Array.from({ length: total }, (_, index) => index).filter(
        (index) => status === undefined || statusOf(index) === status,
      );
      const items = all.slice((number - 1) * 100, number * 100).map(lacking ? envelope : whole);
      return Promise.resolve({ items, totalPages: Math.ceil(all.length / 100) });
    };
    const sleep = (ms: number, signal?: AbortSignal) => {
      looks++;
      return clock.sleep(ms, signal);
    };
    const counts = () => requests;
    return {
      client: { ...client, clock: { ...clock, sleep }, envelopes: { ...client.envelopes, get, page } },
      counts,
    };
  }

  it.each([false, true])(
    'report each change once and in order, for a few requests per poll (lists lack signers: %s)',
    async (lacking) => {
      const { client, counts } = crowd(1_000, lacking);
      const ids = Array.from({ length: 1_000 }, (_, index) => `env_${index}`);
      const changes = new Map<string, string[]>();
      const options = { until: ['COMPLETED'], intervalMs: 5_000, random: () => 0.5 };
      for await (const event of watchEnvelopes(client, ids, options))
        if (event.type === 'change')
          changes.set(event.change.envelopeId, [
            ...(changes.get(event.change.envelopeId) ?? []),
            event.change.to,
          ]);
      expect(changes.size).toBe(1_000);
      for (const moves of changes.values()) expect(moves).toEqual([...new Set(moves)]);
      for (const [id, moves] of changes) {
        const whole =
          Number(id.slice(4)) % 5 === 4 ? ['IN_PROGRESS', 'COMPLETED'] : ['SENT', 'IN_PROGRESS', 'COMPLETED'];
        expect(moves).toEqual(whole);
      }
      // Nine polls of about ten pages; changes take one request each if lists lack signers.
      expect(counts()).toBeLessThan(lacking ? 3_200 : 2_200);
    },
  );
});
