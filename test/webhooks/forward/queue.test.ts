import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DayJournal } from '../../../src/journal/day-journal.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { Forwarding } from '../../../src/webhooks/forward/forwarding.ts';
import { ForwardLedger, type PendingForward, targetName } from '../../../src/webhooks/forward/ledger.ts';
import { Forwarder, RETRY_PERIOD_MS } from '../../../src/webhooks/forward/queue.ts';
import type { ForwardResult } from '../../../src/webhooks/forward/send.ts';
import { EVENTS_FORMAT, type EventRecord } from '../../../src/webhooks/journal/record.ts';
import { fakeClock } from '../../support/clock.ts';
import { portOf } from '../../support/server.ts';
import { eventRecord } from '../../support/webhooks.ts';

/** An application: the deliveries it received, and its response to each. */
let got: { id: string; body: Buffer }[] = [];
let says: (id: string, body: Buffer) => number = () => 200;
const app = createServer((request, response) => {
  void buffer(request).then((body) => {
    const id = String(request.headers['x-esign-delivery-id']);
    got.push({ id, body });
    response.writeHead(says(id, body)).end();
  });
});
let url: string;
let folder: string;
let clock = fakeClock();
/** By how many ms the clock was set forward. */
let corrected = 0;
let ends: string[] = [];
let results: ForwardResult[] = [];
let afterResult: () => void = () => undefined;
/** Both of them, as reported. */
let order: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-forward-'));
  clock = fakeClock(Date.now());
  corrected = 0;
  afterResult = () => undefined;
  [got, ends, results, order] = [[], [], [], []];
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
  await rm(folder, { recursive: true, force: true });
});

function forwarder(by: Clock = clock): Forwarder {
  return new Forwarder({
    urls: [url],
    timeoutMs: 10_000,
    clock: by,
    elapsed: () => by.now() - corrected,
    onResult: (result) => {
      results.push(result);
      order.push(`${result.id} try ${result.attempt}`);
      afterResult();
    },
    onEnd: ({ deliveryId }, end) => {
      ends.push(`${deliveryId} ${end}`);
      order.push(`${deliveryId} ${end}`);
    },
  });
}

const events = () => join(folder, 'events');
const record = (
  deliveryId: string,
  envelopeId: string | null,
  more: Partial<EventRecord> = {},
): EventRecord =>
  eventRecord(deliveryId, clock.now(), Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]), {
    envelopeId,
    headers: [['X-Custom', 'a']],
    owedTo: [targetName(url)],
    ...more,
  });

/** Writes records like an earlier listener. */
async function written(...records: EventRecord[]): Promise<void> {
  const journal = new DayJournal(events(), EVENTS_FORMAT, clock);
  for (const one of records) await journal.append(one);
  await journal.close();
}

async function takenOver(ledger: ForwardLedger): Promise<PendingForward[]> {
  return ledger.takeOver(events(), [targetName(url)], clock.now() - 2 * RETRY_PERIOD_MS, () => undefined);
}
/** Waits until nothing is left, on a clock that never waits. */
async function over(forwards: Forwarder): Promise<void> {
  while (forwards.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  await forwards.drain(0);
}
const ledgerOf = () => new ForwardLedger(join(folder, 'forwards'), clock);

describe('pending forwards', () => {
  it('come from the journal, byte for byte, the oldest first, and never again once delivered', async () => {
    await written(record('dlv_1', 'env_a'), record('dlv_2', 'env_a'), record('dlv_3', null));
    const ledger = ledgerOf();
    await ledger.lockOwn('me', [targetName(url)]);
    const pending = await takenOver(ledger);
    expect(pending.map(({ deliveryId }) => deliveryId)).toEqual(['dlv_1', 'dlv_2', 'dlv_3']);
    const forwards = forwarder();
    for (const one of pending) forwards.enqueue(one);
    await over(forwards);
    expect(got.filter(({ id }) => id !== 'dlv_3').map(({ id }) => id)).toEqual(['dlv_1', 'dlv_2']);
    expect(got.map(({ body }) => body.toString('hex'))).toEqual(['7bfffe007d', '7bfffe007d', '7bfffe007d']);
    await ledger.recordEnd('dlv_1', targetName(url), 'taken');
    await ledger.recordEnd('dlv_2', targetName('http://127.0.0.1:1/other'), 'taken');
    await ledger.close();
    const next = ledgerOf();
    await next.lockOwn('next', [targetName(url)]);
    expect((await takenOver(next)).map(({ deliveryId }) => deliveryId)).toEqual(['dlv_2', 'dlv_3']);
    await next.close();
  });

  it('are not taken over from a running listener, or by two listeners at the same time', async () => {
    const journal = new DayJournal(events(), EVENTS_FORMAT, clock);
    const [first, second, third] = [ledgerOf(), ledgerOf(), ledgerOf()];
    await first.lockOwn(journal.name, [targetName(url)]);
    await journal.append(record('dlv_1', 'env_a'));
    await second.lockOwn('second', [targetName(url)]);
    expect(await takenOver(second)).toEqual([]);
    await second.close();
    await journal.close();
    await first.close();
    await third.lockOwn('third', [targetName(url)]);
    expect(await takenOver(third)).toHaveLength(1);
    const late = ledgerOf();
    await late.lockOwn('late', [targetName(url)]);
    expect(await takenOver(late)).toEqual([]);
    await third.close();
    await late.close();
  });

  it('are reported if they expired before the listener started', async () => {
    await written(record('dlv_1', 'env_a'));
    clock.time += 4 * RETRY_PERIOD_MS;
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const options = { folder: join(folder, 'forwards'), urls: [url], timeoutMs: 1_000, clock };
    const forwarding = new Forwarding({ ...options, warn, onResult: (one) => void results.push(one) });
    await forwarding.recall('me', events(), warn);
    forwarding.start();
    await forwarding.stop(0);
    expect(warnings).toEqual([expect.stringContaining('esign events replay dlv_1 ')]);
    expect(results).toEqual([]);
  });

  it('exclude deliveries for another address and refused ones', async () => {
    await written(
      record('dlv_1', 'env_a', { owedTo: [targetName('http://127.0.0.1:1/other')] }),
      record('dlv_2', 'env_a', { owedTo: undefined }),
    );
    const ledger = ledgerOf();
    await ledger.lockOwn('me', [targetName(url)]);
    expect(await takenOver(ledger)).toEqual([]);
    await ledger.close();
  });

  it('are retried while the journal is unreadable, and expire if it was deleted', async () => {
    await written(record('dlv_1', 'env_a'), record('dlv_2', 'env_a'));
    const ledger = ledgerOf();
    await ledger.lockOwn('me', [targetName(url)]);
    const pending = await takenOver(ledger);
    await ledger.close();
    const path = pending[0]?.place.path ?? '';
    renameSync(path, `${path}.away`);
    mkdirSync(path);
    const forwards = forwarder();
    for (const one of pending) forwards.enqueue(one);
    afterResult = () => {
      if (results.length !== 1) return;
      rmdirSync(path);
      renameSync(`${path}.away`, path);
    };
    await over(forwards);
    expect(ends).toEqual(['dlv_1 taken', 'dlv_2 taken']);
    rmSync(path);
    const last = forwarder();
    for (const one of pending.slice(0, 1)) last.enqueue(one);
    await over(last);
    expect(ends.at(-1)).toBe('dlv_1 expired');
  });
});

describe('the forwarder', () => {
  const owe = (deliveryId: string, envelopeId: string | null, receivedAt = clock.now()) => ({
    pending: {
      target: targetName(url),
      deliveryId,
      event: 'envelope.sent',
      envelopeId,
      receivedAt,
      place: { path: join(folder, 'none'), start: 0, end: 1 },
    },
    delivery: {
      deliveryId,
      event: 'envelope.sent',
      envelopeId,
      headers: [],
      raw: Buffer.from(`{"id":"${deliveryId}"}`),
    },
  });
  const take = (forwards: Forwarder, ...all: ReturnType<typeof owe>[]) => {
    for (const { pending, delivery } of all) forwards.enqueue(pending, delivery);
  };

  it('keeps the order of an envelope through failures, and delays no other', async () => {
    says = (id) => (id === 'dlv_1' && got.filter((one) => one.id === id).length <= 7 ? 503 : 200);
    const forwards = forwarder();
    take(forwards, owe('dlv_1', 'env_a'), owe('dlv_2', 'env_a'), owe('dlv_3', 'env_b'));
    await over(forwards);
    const ids = got.map(({ id }) => id);
    expect(ids.filter((id) => id === 'dlv_1')).toHaveLength(8);
    expect(ids.indexOf('dlv_2')).toBeGreaterThan(ids.lastIndexOf('dlv_1'));
    expect(ids.indexOf('dlv_3')).toBeLessThan(ids.lastIndexOf('dlv_1'));
    expect(ends.toSorted()).toEqual(['dlv_1 taken', 'dlv_2 taken', 'dlv_3 taken']);
    expect(forwards.pending).toBe(0);
  });

  it('drops a delivery after five refusals, and continues with the next one', async () => {
    says = (id) => (id === 'dlv_1' ? 422 : 200);
    const forwards = forwarder();
    take(forwards, owe('dlv_1', 'env_a'), owe('dlv_2', 'env_a'));
    await over(forwards);
    expect(ends).toEqual(['dlv_1 refused', 'dlv_2 taken']);
    expect(got).toHaveLength(6);
    expect(results.map(({ id, attempt, nextMs, waiting }) => [id, attempt, nextMs, waiting])).toEqual([
      ['dlv_1', 1, 500, 1],
      ['dlv_1', 2, 2_000, 1],
      ['dlv_1', 3, 5_000, 1],
      ['dlv_1', 4, 15_000, 1],
      ['dlv_1', 5, null, 1],
      ['dlv_2', 1, null, 0],
    ]);
    // The last attempt is reported before the end.
    expect(order.slice(-4)).toEqual(['dlv_1 try 5', 'dlv_1 refused', 'dlv_2 try 1', 'dlv_2 taken']);
  });

  it('counts only refusals, not attempts that failed for another reason', async () => {
    const statuses = [503, 503, 503, 503, 404, 503, 404, 404, 404, 404, 200];
    says = () => statuses.shift() ?? 200;
    const forwards = forwarder();
    take(forwards, owe('dlv_1', 'env_a'));
    await over(forwards);
    expect([got.length, ends]).toEqual([10, ['dlv_1 refused']]);
  });

  it('drops a delivery after a day, not before', async () => {
    const started = clock.now();
    says = () => (clock.now() - started > RETRY_PERIOD_MS - 120_000 ? 200 : 500);
    const forwards = forwarder();
    take(forwards, owe('dlv_1', 'env_a'), owe('dlv_old', 'env_b', started - RETRY_PERIOD_MS - 1));
    await over(forwards);
    expect(ends).toEqual(['dlv_old expired', 'dlv_1 taken']);
    expect(got.length).toBeGreaterThan(1_000);
  });

  it('keeps a delivery that just arrived if the clock is set forward by more than a day', async () => {
    says = () => {
      if (got.length === 1) clock.time += corrected = RETRY_PERIOD_MS + 3_600_000;
      return got.length === 1 ? 503 : 200;
    };
    const forwards = forwarder();
    take(forwards, owe('dlv_1', 'env_a'));
    await over(forwards);
    expect(ends).toEqual(['dlv_1 taken']);
  });

  it('stops without waiting for a late attempt, which stays pending', async () => {
    says = () => 500;
    const forwards = forwarder(systemClock);
    take(forwards, owe('dlv_1', 'env_a'), owe('dlv_2', 'env_a'));
    while (results.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await forwards.drain(100);
    expect([forwards.pending, ends]).toEqual([2, []]);
  });

  it('aborts an attempt that the application never answers', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${portOf(silent)}/`;
    const forwards = forwarder(systemClock);
    take(forwards, owe('dlv_1', 'env_a'));
    await forwards.drain(50);
    expect([forwards.pending, ends, results]).toEqual([1, [], []]);
    silent.closeAllConnections();
    silent.close();
  });

  it('keeps many in the journal and not in memory, and loses none of them', async () => {
    const big = Buffer.alloc(1_000_000, 'x').toString('base64');
    await written(
      ...Array.from({ length: 20 }, (_, n) =>
        record(`dlv_${n}`, 'env_a', { bodyBase64: big, bytes: 1_000_000 }),
      ),
    );
    const ledger = ledgerOf();
    await ledger.lockOwn('me', [targetName(url)]);
    const forwards = forwarder();
    for (const pending of await takenOver(ledger))
      forwards.enqueue(pending, { ...pending, event: null, headers: [], raw: Buffer.from(big, 'base64') });
    await over(forwards);
    expect(got.map(({ id, body }) => `${id} ${body.length}`)).toEqual(
      Array.from({ length: 20 }, (_, n) => `dlv_${n} 1000000`),
    );
    await ledger.close();
  });
});
