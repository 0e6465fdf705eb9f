import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DayJournal } from '../../../src/journal/day-journal.ts';
import { EventReader } from '../../../src/webhooks/journal/event-journal.ts';
import { EVENTS_FORMAT } from '../../../src/webhooks/journal/record.ts';
import { fakeClock } from '../../support/clock.ts';
import { recordOf } from '../../support/webhooks.ts';

it('reads records at their places, also after their file was deleted and created again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'esign-reader-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const journal = new DayJournal(folder, EVENTS_FORMAT, fakeClock());
  const reader = new EventReader();
  const first = await journal.append(recordOf('dlv_a'));
  const second = await journal.append(recordOf('dlv_b'));
  const both = [reader.read(first, 'dlv_a'), reader.read(second, 'dlv_b')];
  expect((await Promise.all(both)).map((record) => record?.deliveryId)).toEqual(['dlv_a', 'dlv_b']);
  await rm(dirname(first.path), { recursive: true });
  const again = await journal.append(recordOf('dlv_c'));
  // The new file has the name of the old one, and the record its place.
  expect(again).toEqual(first);
  expect(await reader.read(again, 'dlv_c')).toMatchObject({ deliveryId: 'dlv_c' });
  expect(await reader.read(first, 'dlv_a')).toBeUndefined();
  reader.close();
  await journal.close();
  await rm(folder, { recursive: true });
  expect(await reader.read(again, 'dlv_c')).toBeUndefined();
});
