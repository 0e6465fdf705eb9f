import { expect, it } from 'vitest';
import { readPayload } from '../../../src/webhooks/receive/payload.ts';

it.each([
  ['data.envelopeId', { envelopeId: 'env_1', id: 'evt_9', status: 'DECLINED' }],
  ['data.envelope', { id: 'evt_9', envelope: { id: 'env_1', status: 'DECLINED' } }],
  ['data', { id: 'env_1', status: 'DECLINED', envelope: 'env_9' }],
])('reads the envelope of an event from %s', (_, data) => {
  const payload = Buffer.from(JSON.stringify({ event: 'envelope.declined', data }));
  expect(readPayload(payload)).toMatchObject({ envelopeId: 'env_1', status: 'DECLINED' });
});

it('does not take the ID of something else for an envelope', () => {
  const payload = Buffer.from(JSON.stringify({ event: 'envelope.declined', data: { id: 'sig_1' } }));
  expect(readPayload(payload)?.envelopeId).toBeNull();
});
