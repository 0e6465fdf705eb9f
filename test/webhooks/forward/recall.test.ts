import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DayJournal } from '../../../src/journal/day-journal.ts';
import { Forwarding } from '../../../src/webhooks/forward/forwarding.ts';
import { targetName } from '../../../src/webhooks/forward/queue.ts';
import { EVENTS_FORMAT } from '../../../src/webhooks/journal/record.ts';
import { fakeClock } from '../../support/clock.ts';
import { recordOf } from '../../support/webhooks.ts';

it('finds what is pending for its own addresses', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'esign-recall-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const clock = fakeClock();
  const [own, other] = ['http://127.0.0.1:9/own', 'http://127.0.0.1:9/other'];
  const targets = [own, other].map(targetName);
  const record = (id: string) => recordOf(id, { receivedAt: new Date(clock.now()).toISOString(), targets });
  const end = (forwarded: string, target: string) =>
    ({ forwarded, target: targetName(target), outcome: 'accepted' }) as const;
  const journal = new DayJournal(folder, EVENTS_FORMAT, clock);
  // An end may be read before its delivery.
  for (const entry of [end('a', own), record('a'), record('b'), end('b', other), record('c'), end('c', own)])
    await journal.append(entry);
  const forwarding = new Forwarding({
    ...{ journal, urls: [own], clock, warn: () => undefined },
    onResult: () => undefined,
  });
  expect([...(await forwarding.recall(folder, () => undefined))]).toEqual(['evt_a', 'evt_b', 'evt_c']);
  forwarding.start();
  expect(forwarding.pending).toBe(1);
  await forwarding.stop(1);
  await journal.close();
});
