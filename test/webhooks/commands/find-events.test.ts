import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { NotFoundError, UsageError } from '../../../src/kernel/errors.ts';
import { DayJournal } from '../../../src/lines/day-journal.ts';
import { findEvents } from '../../../src/webhooks/commands/send-to-receiver.ts';
import { EVENTS_FORMAT } from '../../../src/webhooks/journal/record.ts';
import { newFolder } from '../../support/folder.ts';
import { recordOf } from '../../support/webhooks.ts';

it('finds deliveries by their IDs, whole or as lists show them, in the order of the IDs, and reads the journal once', async () => {
  const state = newFolder();
  vi.stubEnv('ESIGN_STATE_DIR', state);
  onTestFinished(() => void vi.unstubAllEnvs());
  const journal = new DayJournal(join(state, 'events'), EVENTS_FORMAT, systemClock);
  const stored = ['dlv_aaaaaaaa11', 'dlv_aaaaaaaa12', 'dlv_bbbbbbbb20', 'dlv_cccccccc30'];
  for (const id of stored) await journal.append(recordOf(id));
  await journal.close();
  const terminal = { notice: () => undefined };
  const found = async (...ids: string[]) =>
    (await findEvents(ids, terminal)).map(({ deliveryId }) => deliveryId);
  const read = vi.spyOn(EVENTS_FORMAT, 'read');
  expect(await found('dlv_cccccccc', 'dlv_aaaaaaaa12', 'dlv_bbbbbbbb20')).toEqual([
    'dlv_cccccccc30',
    'dlv_aaaaaaaa12',
    'dlv_bbbbbbbb20',
  ]);
  expect(read).toHaveBeenCalledTimes(stored.length);
  await expect(found('dlv_bbbbbbbb20', 'dlv_aaaaaaaa')).rejects.toThrow(UsageError);
  for (const missing of ['dlv_b', 'dlv_bbbbbbbb21', ''])
    await expect(found('dlv_bbbbbbbb20', missing)).rejects.toThrow(NotFoundError);
});
