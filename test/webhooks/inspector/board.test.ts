import { expect, it } from 'vitest';
import { DeliveryBoard } from '../../../src/webhooks/inspector/board.ts';
import { fakeClock } from '../../support/clock.ts';
import { recordOf } from '../../support/webhooks.ts';

it('keeps only the latest attempts to forward a delivery, which may be repeated for a day', () => {
  const board = new DeliveryBoard(fakeClock());
  const record = recordOf('dlv_1');
  board.addDelivery(record, null);
  const { event, envelopeId } = record;
  for (let attempt = 1; attempt <= 1_400; attempt++)
    board.addForward(
      {
        id: 'dlv_1',
        event,
        envelopeId,
        url: 'http://app',
        attempt,
        status: 503,
        ms: 1,
        error: '503',
        nextMs: 1,
      },
      false,
    );
  const attempts = board.entry('dlv_1')?.passings ?? [];
  expect(attempts.length).toBeLessThanOrEqual(100);
  expect(attempts.at(-1)).toMatchObject({ attempt: 1_400 });
});
