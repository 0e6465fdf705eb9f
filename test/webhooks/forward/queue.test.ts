import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import {
  ForwardQueue,
  type PendingForward,
  pendingForward,
  RETRY_PERIOD_MS,
} from '../../../src/webhooks/forward/queue.ts';
import type { ForwardResult } from '../../../src/webhooks/forward/send.ts';
import { fakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { portOf } from '../../support/server.ts';
import { recordOf } from '../../support/webhooks.ts';

/** An application: the IDs of the deliveries it received, and its response to each. */
let got: string[] = [];
let says: (id: string) => number = () => 200;
const app = createServer((request, response) => {
  const id = String(request.headers['x-esign-delivery-id']);
  got.push(id);
  request.resume().on('end', () => response.writeHead(says(id)).end());
});
let url: string;
/** A clock that never waits. */
let clock = fakeClock();
let results: ForwardResult[] = [];
/** Attempts and outcomes, as reported. */
let order: string[] = [];

beforeEach(async () => {
  clock = fakeClock(Date.now());
  [got, results, order] = [[], [], []];
  says = () => 200;
  await new Promise<void>((resolve) => {
    app.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${portOf(app)}/app`;
});
afterEach(async () => {
  await new Promise((resolve) => {
    app.close(resolve);
    app.closeAllConnections();
  });
});

interface Given {
  deliveryId: string;
  envelopeId: string;
  receivedAt?: number;
}

/** Starts a queue, which reports into these outcomes. */
function startQueue(on: Clock, ends: string[] = []): ForwardQueue {
  const forwards = new ForwardQueue({
    url,
    clock: on,
    read: ({ deliveryId, envelopeId }) =>
      Promise.resolve({
        deliveryId,
        event: 'envelope.sent',
        envelopeId,
        headers: [],
        raw: Buffer.from('{}'),
      }),
    onResult: (result) => {
      results.push(result);
      order.push(`${result.id} try ${result.attempt}`);
    },
    onEnd: ({ deliveryId }, end) => {
      ends.push(`${deliveryId} ${end}`);
      order.push(`${deliveryId} ${end}`);
      return Promise.resolve();
    },
  });
  forwards.start();
  return forwards;
}

function pendingOf({ deliveryId, envelopeId, receivedAt = clock.now() }: Given): PendingForward {
  const record = recordOf(deliveryId, { envelopeId, receivedAt: new Date(receivedAt).toISOString() });
  return pendingForward(record, { path: join(tmpdir(), 'none'), start: 0, end: 1 });
}

/** Returns deliveries for different envelopes. */
function manyOf(count: number): Given[] {
  return Array.from({ length: count }, (_, n) => ({ deliveryId: `dlv_${n}`, envelopeId: `env_${n}` }));
}

/** Forwards these deliveries until each has an outcome; returns the outcomes in order. */
async function endsOf(...deliveries: Given[]): Promise<string[]> {
  const ends: string[] = [];
  const forwards = startQueue(clock, ends);
  for (const one of deliveries) forwards.enqueue(pendingOf(one));
  while (forwards.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  await forwards.stop(0);
  return ends;
}

describe('a forward queue', () => {
  it('drops a delivery after five refusals, and continues with the next one', async () => {
    says = (id) => (id === 'dlv_1' ? 422 : 200);
    const both = ['dlv_1', 'dlv_2'].map((deliveryId) => ({ deliveryId, envelopeId: 'env_a' }));
    expect(await endsOf(...both)).toEqual(['dlv_1 refused', 'dlv_2 accepted']);
    expect(results.map(({ id, attempt, nextMs }) => [id, attempt, nextMs])).toEqual([
      ['dlv_1', 1, 500],
      ['dlv_1', 2, 2_000],
      ['dlv_1', 3, 5_000],
      ['dlv_1', 4, 15_000],
      ['dlv_1', 5, null],
      ['dlv_2', 1, null],
    ]);
    // The last attempt is reported before the end.
    expect(order.slice(-4)).toEqual(['dlv_1 try 5', 'dlv_1 refused', 'dlv_2 try 1', 'dlv_2 accepted']);
  });

  it('counts only refusals, not attempts that failed for another reason', async () => {
    const statuses = [503, 503, 408, 503, 404, 503, 404, 404, 404, 404, 200];
    says = () => statuses.shift() ?? 200;
    expect(await endsOf({ deliveryId: 'dlv_1', envelopeId: 'env_a' })).toEqual(['dlv_1 refused']);
    expect(got).toHaveLength(10);
  });

  it('causes no warning of Node.js when many deliveries are sent at the same time', async () => {
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    expect(await endsOf(...manyOf(40))).toHaveLength(40);
    expect(warnings).toEqual([]);
  });

  it('sends only a few deliveries per second while the application is down, and all as soon as it is back', async () => {
    says = () => 503;
    const forwards = startQueue(systemClock);
    const startedAt = performance.now();
    for (const one of manyOf(1_000)) forwards.enqueue(pendingOf(one));
    await systemClock.sleep(1_000);
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(got.length / seconds).toBeLessThan(300);
    says = () => 200;
    await eventually(() => expect(got.length).toBeGreaterThan(900));
    await forwards.stop(0);
  });

  it('sends new deliveries before those that the application did not accept', async () => {
    const forwards = startQueue(clock);
    const added = pendingOf({ deliveryId: 'dlv_new', envelopeId: 'env_new' });
    says = () => {
      if (got.length === 600) forwards.enqueue(added);
      return got.includes('dlv_new') ? 200 : 503;
    };
    for (const one of manyOf(400)) forwards.enqueue(pendingOf(one));
    while (forwards.pending > 0) await new Promise((resolve) => setImmediate(resolve));
    await forwards.stop(0);
    // At that time, 32 were being sent.
    expect(got.indexOf('dlv_new')).toBeLessThan(700);
  });

  it('drops a delivery after a day, not before', async () => {
    const [minute, started] = [60_000, clock.now()];
    const agedMs = RETRY_PERIOD_MS - 10 * minute;
    says = (id) => (id === 'dlv_1' && clock.now() - started > 7 * minute ? 200 : 500);
    const ends = await endsOf(
      { deliveryId: 'dlv_1', envelopeId: 'env_a', receivedAt: started - agedMs },
      { deliveryId: 'dlv_2', envelopeId: 'env_b', receivedAt: started - agedMs },
      { deliveryId: 'dlv_old', envelopeId: 'env_c', receivedAt: started - RETRY_PERIOD_MS - 1 },
    );
    expect(ends.toSorted()).toEqual(['dlv_1 accepted', 'dlv_2 expired', 'dlv_old expired']);
    expect(got).not.toContain('dlv_old');
  });
});
