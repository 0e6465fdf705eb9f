import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DeliveryActions } from '../../../src/webhooks/commands/listen-actions.ts';
import { deliveryFromEventRecord } from '../../../src/webhooks/journal/record.ts';
import { recordOf } from '../../support/webhooks.ts';

it('warns about a delivery that was deleted from the journal before its command could run', async () => {
  const warnings: string[] = [];
  const actions = new DeliveryActions({
    exec: 'exit 1',
    dir: undefined,
    download: () => Promise.resolve(),
    warn: (message) => warnings.push(message),
  });
  const place = { path: join(tmpdir(), 'esign-no-such-journal.jsonl'), start: 0, end: 100 };
  actions.take(deliveryFromEventRecord(recordOf('dlv_a')), place);
  await actions.done();
  expect(warnings).toEqual(['Delivery dlv_a was not processed: it was deleted from the journal']);
});
