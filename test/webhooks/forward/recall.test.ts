import { expect, it } from 'vitest';
import { DayJournal } from '../../../src/lines/day-journal.ts';
import { Forwarding } from '../../../src/webhooks/forward/forwarding.ts';
import { targetName } from '../../../src/webhooks/forward/queue.ts';
import { EVENTS_FORMAT, isEvent, type JournalEntry } from '../../../src/webhooks/journal/record.ts';
import { deliveryKey } from '../../../src/webhooks/receive/accepted-deliveries.ts';
import { fakeClock } from '../../support/clock.ts';
import { newFolder } from '../../support/folder.ts';
import { recordOf } from '../../support/webhooks.ts';

const OWN = 'http://127.0.0.1:9/own';
const OTHER = 'http://127.0.0.1:9/other';
const clock = fakeClock();
const record = (id: string, verified = true) =>
  recordOf(id, {
    receivedAt: new Date(clock.now()).toISOString(),
    targets: [OWN, OTHER].map(targetName),
    verified,
  });
const end = (forwarded: string, target: string) =>
  ({ forwarded, target: targetName(target), outcome: 'accepted' }) as const;

/** Recalls a journal. Returns the ids of the records that count as seen, the number of pending ones, and the warnings. */
async function recall(entries: readonly JournalEntry[], verify: boolean) {
  const folder = newFolder();
  const journal = new DayJournal(folder, EVENTS_FORMAT, clock);
  for (const entry of entries) await journal.append(entry);
  const warnings: string[] = [];
  const forwarding = new Forwarding({
    ...{ journal, urls: [OWN], verify, clock, warn: () => undefined },
    onResult: () => undefined,
  });
  const keys = await forwarding.recall(folder, (message) => warnings.push(message));
  const seen = entries.filter(isEvent).filter((one) => keys.has(deliveryKey(one)));
  forwarding.start();
  const { pending } = forwarding;
  await forwarding.stop(1);
  await journal.close();
  return { seen: seen.map(({ id }) => id), pending, warnings };
}

it('finds what is pending for its own addresses', async () => {
  // An end may be read before its delivery.
  const entries = [end('a', OWN), record('a'), record('b'), end('b', OTHER), record('c'), end('c', OWN)];
  expect(await recall(entries, true)).toEqual({
    seen: ['evt_a', 'evt_b', 'evt_c'],
    pending: 1,
    warnings: [],
  });
});

it('ignores what an earlier listener did not verify, if this one verifies', async () => {
  const entries = [record('a', false), record('b'), record('c', false), end('c', OWN)];
  expect(await recall(entries, true)).toEqual({
    seen: ['evt_b'],
    pending: 1,
    warnings: [expect.stringContaining('1 pending delivery was received with --no-verify')],
  });
  expect(await recall(entries, false)).toMatchObject({ seen: ['evt_a', 'evt_b', 'evt_c'], pending: 2 });
});
