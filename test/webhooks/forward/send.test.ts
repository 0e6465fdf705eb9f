import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { forwardOnce } from '../../../src/webhooks/forward/send.ts';
import { startServer } from '../../support/server.ts';

const TIMEOUT_MS = 100;
const delivery = { deliveryId: 'dlv_1', event: null, envelopeId: null, headers: [], raw: Buffer.from('{}') };

it.each([
  [200, null],
  [500, 'responded with 500'],
])('uses the status %i of a response that never ends', async (status, error) => {
  const app = await startServer((_request, response) => {
    response.writeHead(status);
    const timer = setInterval(() => response.write('.'), TIMEOUT_MS / 5);
    response.on('close', () => clearInterval(timer));
  });
  const options = { attempt: 1, timeoutMs: TIMEOUT_MS, clock: systemClock };
  expect(await forwardOnce(delivery, app.origin, options)).toMatchObject({ status, error });
  await app.close();
});
