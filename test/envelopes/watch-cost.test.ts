import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WatchEvent, watchEnvelopes } from '../../src/envelopes/watch/watch-envelopes.ts';
import { seeded } from '../support/seeded.ts';
import { idsOf, Model, type ModelOptions } from '../support/watched-service.ts';

interface Plot extends ModelOptions {
  count: number;
  /** The probability that an envelope changes between two polls. */
  likely?: number;
  seed?: number;
  /** Stops after this many polls. */
  looks?: number;
  /** Runs before each pause. */
  between?: (model: Model, look: number) => void;
}

const ENOUGH = new Error('enough');

/** Watches envelopes that change between polls, to the end or for this many polls. */
async function watch(plot: Plot) {
  const { count, likely = 0.5, looks: most = 2_000 } = plot;
  const ids = idsOf(count);
  const random = seeded(plot.seed ?? 1);
  const events: WatchEvent[] = [];
  /** The number of requests of each poll. */
  const looks: number[] = [];
  const enough = new AbortController();
  const model: Model = new Model(ids, {
    ...plot,
    onSleep: () => {
      looks.push(model.requests - looks.reduce((sum, one) => sum + one, 0));
      for (const id of model.moves.keys()) if (random() < likely) model.advance(id);
      plot.between?.(model, looks.length);
      if (looks.length >= most) enough.abort(ENOUGH);
    },
  });
  const options = { until: ['COMPLETED'], intervalMs: 5_000, random, signal: enough.signal };
  try {
    for await (const event of watchEnvelopes(model.client, ids, options)) events.push(event);
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  return { events, looks, model, ids };
}

interface Change {
  from: string | null;
  to: string;
  signer: string | null;
  /** What the signer has done, according to the envelope. */
  did: string | null;
}

function changesOf(events: readonly WatchEvent[]): Map<string, Change[]> {
  const changes = new Map<string, Change[]>();
  for (const event of events) {
    if (event.type !== 'change') continue;
    const { envelopeId, from, to, signer, envelope } = event.change;
    const did = envelope.signers?.find((one) => one.email === signer)?.status ?? null;
    changes.set(envelopeId, [...(changes.get(envelopeId) ?? []), { from, to, signer, did }]);
  }
  return changes;
}

/** Every change of the model was reported once, in order, each from the state after the previous one. */
function expectWhole(events: readonly WatchEvent[], model: Model): void {
  for (const [id, reported] of changesOf(events)) {
    const [first, ...rest] = reported;
    expect(first).toEqual({ from: null, to: 'SENT', signer: null, did: null });
    expect(rest.map(({ to, signer }) => ({ status: to, signer }))).toEqual(model.moves.get(id));
    expect(rest.map(({ from }) => from)).toEqual(reported.slice(0, -1).map(({ to }) => to));
  }
}

const most = (looks: readonly number[]) => Math.max(...looks);

describe('watching many', () => {
  it('reports each of thousands of changes once, in order and with its signer, for at most 12 requests per poll', async () => {
    let reported = 0;
    const runs = Number(process.env.WATCH_RUNS ?? 1);
    for (let seed = 1; seed <= runs; seed++) {
      const { events, looks, model } = await watch({ count: 1_000, likely: 0.3, seed });
      expectWhole(events, model);
      expect(changesOf(events).size).toBe(1_000);
      expect(most(looks)).toBeLessThanOrEqual(12);
      reported += events.length;
    }
    expect(reported).toBeGreaterThan(3_300 * runs);
  });

  it('reads the lists of active envelopes if the account has many more', async () => {
    const { looks, events, model } = await watch({ count: 1_000, archived: 9_000, likely: 0, looks: 5 });
    expect(changesOf(events).size).toBe(1_000);
    expect(looks).toEqual([11, 10, 10, 10, 10]);
    expect(model.gets).toBe(0);
  });

  it('requests envelopes that have left the lists', async () => {
    const { looks, events, model } = await watch({
      count: 1_000,
      archived: 9_000,
      likely: 0,
      looks: 4,
      between: (all, look) => {
        if (look === 1) for (let step = 0; step < 4; step++) all.advance('env_7');
      },
    });
    expect(looks).toEqual([11, 11, 10, 10]);
    expect(model.gets).toBe(1);
    expect(changesOf(events).get('env_7')?.at(-1)).toMatchObject({
      to: 'COMPLETED',
      signer: 's1@example.com',
    });
  });

  it('takes one request for one envelope, and one list page for two', async () => {
    expect(most((await watch({ count: 1, looks: 4, likely: 0 })).looks)).toBe(1);
    const two = await watch({ count: 2, looks: 4, likely: 0 });
    expect(two.looks).toEqual([2, 1, 1, 1]);
  });

  it('finds the signers if lists omit them', async () => {
    const { events, model, looks } = await watch({ count: 300, likely: 0.05, seed: 4, lacking: true });
    for (const [id, reported] of changesOf(events)) {
      const moves = model.moves.get(id) ?? [];
      const statuses = (list: readonly { status: string }[]) => list.map((one) => one.status);
      const seen = reported.map(({ to }) => to);
      // A view may be missed; a status never is, nor who caused it.
      expect([...new Set(seen)]).toEqual([...new Set(['SENT', ...statuses(moves)])]);
      const isLast = reported.at(-1);
      expect(isLast).toMatchObject({ to: 'COMPLETED', signer: 's1@example.com' });
      const started = reported.find(({ from, to }) => from === 'SENT' && to === 'IN_PROGRESS');
      expect(started?.signer).toBe('s0@example.com');
      expect(new Set(reported.map(({ to, signer }) => `${to} ${signer ?? ''}`)).size).toBe(reported.length);
    }
    expect(looks[0]).toBeLessThanOrEqual(12);
  });

  it.each([
    ['ignores the status filter', { ignoresStatus: true }],
    ['reports no page count', { countless: true }],
  ])('handles a service that %s', async (_, quirk) => {
    const { events, looks, model } = await watch({ count: 300, archived: 200, likely: 0.2, ...quirk });
    expectWhole(events, model);
    expect(changesOf(events).size).toBe(300);
    expect(most(looks)).toBeLessThanOrEqual(16);
  });
});

describe('with any service', () => {
  it('reports each change once and in order, and never goes backwards', async () => {
    const plots = fc.record({
      count: fc.integer({ min: 1, max: 40 }),
      archived: fc.constantFrom(0, 150, 700),
      likely: fc.double({ min: 0.05, max: 0.9, noNaN: true }),
      seed: fc.integer({ min: 1, max: 1_000_000 }),
      staleness: fc.constantFrom(0, 0, 0.3),
      outages: fc.constantFrom(0, 0.2),
      ignoresStatus: fc.boolean(),
      countless: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(plots, async ({ staleness, outages, ...plot }) => {
        const luck = seeded(plot.seed + 7);
        const { events, model } = await watch({
          ...plot,
          stale: () => luck() < staleness,
          fails: () => (luck() < outages ? (luck() < 0.5 ? 'down' : 'busy') : undefined),
        });
        for (const [id, reported] of changesOf(events)) {
          const moves = (model.moves.get(id) ?? []).map(({ status, signer }) => `${status} ${signer ?? ''}`);
          const places = reported
            .slice(1)
            .map(({ signer }) => moves.findLastIndex((one) => one.endsWith(` ${signer ?? ''}`)));
          expect(reported.at(-1)?.to).toBe('COMPLETED');
          expect(reported[0]?.from).toBeNull();
          expect(reported.slice(1).map(({ from }) => from)).toEqual(
            reported.slice(0, -1).map(({ to }) => to),
          );
          expect(new Set(reported.map((one) => JSON.stringify(one))).size).toBe(reported.length);
          expect(places).not.toContain(-1);
          const ranks = reported.map(({ to }) => ['SENT', 'IN_PROGRESS', 'COMPLETED'].indexOf(to));
          expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
        }
        if (staleness + outages === 0) expectWhole(events, model);
      }),
      { numRuns: 30 },
    );
  });

  it('reports an hour-long outage once when it starts and once when it ends', async () => {
    let away = false;
    const { events, model, looks } = await watch({
      count: 1_000,
      likely: 0,
      fails: () => (away ? 'down' : undefined),
      between: (all) => {
        const minutes = (all.clock.time - Date.UTC(2026, 0, 2, 3, 4, 5)) / 60_000;
        away = minutes > 2 && minutes < 62;
        if (minutes > 65) all.finish();
      },
    });
    const outages = events.filter((event) => event.type === 'outage');
    expect(outages.map(({ failures }) => failures)).toEqual(outages.map((_, index) => index + 1));
    expect(outages.length).toBeLessThan(75);
    expect(events.filter((event) => event.type === 'recovered')).toHaveLength(1);
    expect([...changesOf(events).values()].every((reported) => reported.at(-1)?.to === 'COMPLETED')).toBe(
      true,
    );
    expect(looks.filter((requests) => requests > 12)).toEqual([]);
    expect(model.gets).toBe(0);
  });

  it('reports deleted envelopes, and keeps watching the others', async () => {
    const { events, model } = await watch({
      count: 300,
      likely: 0.2,
      between: (all, look) => {
        if (look === 3) for (const id of ['env_3', 'env_299']) all.gone.add(id);
      },
    });
    const gone = events.filter((event) => event.type === 'gone').map(({ id }) => id);
    expect(gone.sort()).toEqual(['env_299', 'env_3']);
    const completed = [...changesOf(events).values()].filter(
      (reported) => reported.at(-1)?.to === 'COMPLETED',
    );
    expect(completed).toHaveLength(298);
    expect(model.gets).toBeGreaterThanOrEqual(2);
  });
});
