import { expect, it } from 'vitest';
import { processTerminal } from '../../../src/output/terminal.ts';
import { forwardLine, renderDelivery } from '../../../src/webhooks/commands/delivery-text.ts';
import type { ForwardResult } from '../../../src/webhooks/forward/send.ts';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import { NO_PAYLOAD, type Payload } from '../../../src/webhooks/receive/payload.ts';

/* The output of `esign listen` on a terminal. The content of a refused delivery is untrusted. */
const screen = { ...processTerminal({}, { NO_COLOR: '1' }), outIsTty: true };
const pipe = { ...screen, outIsTty: false };

const payload: Payload = {
  id: 'evt_1',
  event: 'signer.viewed',
  timestamp: '2026-01-02T03:04:05Z',
  envelopeId: 'env_1',
  status: 'IN_PROGRESS',
  signer: 'ada@example.com',
  body: {},
};
const delivery: Delivery = {
  ...payload,
  deliveryId: 'dlv_1',
  // Without a zone: the local time of any machine.
  receivedAt: '2026-01-02T03:04:06',
  verified: true,
  duplicate: false,
  reason: null,
  answer: 200,
  raw: Buffer.from('{}'),
  bytes: 2,
  headers: [],
};
const refused = { verified: false, answer: 401, reason: 'the signature is wrong' };

it.each<[string, Partial<Delivery>, string]>([
  ['an accepted delivery', {}, '03:04:06  ✓ signer.viewed       env_1  IN_PROGRESS  ada@example.com\n'],
  [
    'a duplicate',
    { duplicate: true },
    '03:04:06  ✓ signer.viewed       env_1  IN_PROGRESS  ada@example.com  (duplicate)\n',
  ],
  [
    'an unsigned delivery',
    { verified: false, event: null, status: null, signer: null },
    '03:04:06  ? unknown event       env_1\n',
  ],
  [
    'a refused delivery',
    refused,
    '03:04:06  ✗ refused: the signature is wrong (claims to be signer.viewed for env_1)\n',
  ],
  [
    'a refused delivery with control characters',
    { ...refused, event: 'a\u001b[2J\nb', envelopeId: null },
    '03:04:06  ✗ refused: the signature is wrong (claims to be a␛[2J⏎b for an unknown envelope)\n',
  ],
  [
    'a refused delivery that is not an event',
    { ...refused, ...NO_PAYLOAD },
    '03:04:06  ✗ refused: the signature is wrong\n',
  ],
])('shows a delivery: %s', (_, some, line) => {
  expect(renderDelivery({ ...delivery, ...some }, screen)).toBe(line);
});

const result: ForwardResult = {
  id: 'dlv_1',
  event: 'envelope.sent',
  envelopeId: 'env_4cc9e1b2a3d4e5f60718',
  url: 'http://127.0.0.1:3000/hooks',
  attempt: 1,
  status: 200,
  ms: 12,
  error: null,
  nextMs: null,
};
const failed = { status: 500, error: 'responded with 500', attempt: 3, nextMs: 5_000 };

it('shows the result of forwarding a delivery', () => {
  const line = (some: Partial<ForwardResult>) => forwardLine({ ...result, ...some }, screen, false);
  const name = '          → envelope.sent env_4cc9…  ';
  expect(line({})).toBe(`${name}200 in 12 ms\n`);
  expect(line(failed)).toBe(`${name}responded with 500, attempt 3, next in 5 s\n`);
  expect(line({ ...failed, attempt: 1, nextMs: 500 })).toBe(
    `${name}responded with 500, attempt 1, next in 0.5 s\n`,
  );
  const refused = line({
    ...failed,
    status: null,
    error: 'ECONNREFUSED',
    attempt: 1,
    nextMs: 500,
  });
  expect(refused).not.toContain('ECONNREFUSED');
  expect(line({ ...failed, nextMs: null })).toBe(`${name}responded with 500, attempt 3\n`);
  expect(line({ attempt: 4 })).toBe(`${name}200 in 12 ms, attempt 4\n`);
  expect(line({ event: null, envelopeId: null })).toBe('          → unknown event dlv_1  200 in 12 ms\n');
  expect(forwardLine(result, screen, false, true)).toBe(
    `${name}200 in 12 ms, by http://127.0.0.1:3000/hooks\n`,
  );
});

it('prints a tab-separated line in a pipe', () => {
  expect(renderDelivery({ ...delivery, ...refused, ...NO_PAYLOAD }, pipe)).toBe(
    '2026-01-02T03:04:06\t\t\t\tunverified\tthe signature is wrong\n',
  );
  expect(forwardLine({ ...result, ...failed }, pipe, false)).toBe(
    'forward\tdlv_1\thttp://127.0.0.1:3000/hooks\t500\tresponded with 500\tenvelope.sent\tenv_4cc9e1b2a3d4e5f60718\t3\t5000\n',
  );
});
