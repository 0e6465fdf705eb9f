import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { forwardOnce } from '../../../src/webhooks/forward/send.ts';
import { startServer } from '../../support/server.ts';

/** A response may begin later than the first limits on a busy machine. */
const LIMITS_MS = [100, 1_000, 10_000];
const delivery = { deliveryId: 'dlv_1', event: null, envelopeId: null, headers: [], raw: Buffer.from('{}') };

it.each([
  [200, null],
  [500, 'responded with 500'],
])('uses the status %i of a response that never ends', async (status, error) => {
  const app = await startServer((_request, response) => {
    response.writeHead(status);
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const results = [];
  for (const timeoutMs of LIMITS_MS) {
    results.push(await forwardOnce(delivery, app.origin, { attempt: 1, timeoutMs, clock: systemClock }));
    if (results.at(-1)?.status !== null) break;
  }
  expect(results.at(-1)).toMatchObject({ status, error });
});

it.each([
  ['uses a connection again', 1, undefined],
  ['sends again if a connection that was kept open is closed', 3, 'close'],
])('%s', async (_, connections, ends) => {
  const opened = new Set<unknown>();
  const app = await startServer((_request, response) => {
    const { socket } = response;
    opened.add(socket);
    // Without the header that announces it.
    if (ends) response.on('finish', () => socket?.destroySoon());
    response.setHeader('connection', 'keep-alive').end();
  });
  for (let sent = 0; sent < 3; sent++) {
    const options = { attempt: 1, timeoutMs: 10_000, clock: systemClock };
    expect(await forwardOnce(delivery, app.origin, options)).toMatchObject({ status: 200, error: null });
  }
  expect([opened.size, app.seen.length]).toEqual([connections, 3]);
});

it("sends the credentials in the address instead of the sender's", async () => {
  const app = await startServer((_request, response) => void response.end());
  const address = app.origin.replace('//', '//ann:p%40ss@');
  const headers: [string, string][] = [['authorization', 'Bearer sender']];
  const options = { attempt: 1, timeoutMs: 10_000, clock: systemClock };
  const result = await forwardOnce({ ...delivery, headers }, address, options);
  expect(result).toMatchObject({ status: 200, url: `${app.origin}/` });
  const expected = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`;
  expect(app.seen.map((one) => one.headers.authorization)).toEqual([expected]);
});
