import { expect, it } from 'vitest';
import { createTerminal } from '../../../src/cli/terminal.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createRedactor } from '../../../src/kernel/redaction.ts';
import { DayJournal } from '../../../src/lines/day-journal.ts';
import { ListenView } from '../../../src/webhooks/commands/listen-lines.ts';
import { deliveryFromEventRecord, EVENTS_FORMAT } from '../../../src/webhooks/journal/record.ts';
import { newFolder } from '../../support/folder.ts';
import { payload, recordOf } from '../../support/webhooks.ts';

it('prints all deliveries in order to a slow reader, also those that no longer fit in memory', async () => {
  const folder = newFolder();
  const journal = new DayJournal(folder, EVENTS_FORMAT, systemClock);
  const terminal = createTerminal(
    { json: true },
    { redactor: createRedactor(), output: { undelivered: undefined }, account: { flags: [] } },
  );
  let printed = '';
  const out = (text: string | Uint8Array) => {
    printed += String(text);
    return Promise.resolve();
  };
  const view = new ListenView(
    { ...terminal, hidingSecrets: () => ({ ...terminal, out }) },
    { tunnel: undefined, forwardTo: [] },
  );
  const ids = Array.from({ length: 24 }, (_, n) => `dlv_${n}`);
  const events = [];
  for (const id of ids) {
    const body = payload('env_1', 'envelope.sent', { filler: 'x'.repeat(500_000) });
    const record = recordOf(id, { bodyBase64: Buffer.from(body).toString('base64') });
    events.push({ delivery: deliveryFromEventRecord(record), place: await journal.append(record) });
  }
  for (const { delivery, place } of events) view.take({ type: 'delivery', delivery, place });
  await view.written();
  await journal.close();
  expect([...printed.matchAll(/"deliveryId":"(\w+)"/g)].map(([, id]) => id)).toEqual(ids);
});
