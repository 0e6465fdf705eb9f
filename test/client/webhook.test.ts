import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../src/client/client.ts';
import { UsageError, VerificationError } from '../../src/kernel/errors.ts';

const SECRET = 'whsec_0123456789abcdef';
const BODY = JSON.stringify({
  event: 'envelope.signed',
  timestamp: '2026-01-02T03:04:05Z',
  data: { envelopeId: 'env_1', status: 'IN_PROGRESS', signer: { email: 'ada@example.com' } },
});
const sign = (body: string, secret = SECRET) => createHmac('sha256', secret).update(body).digest('hex');

describe('verifyWebhook', () => {
  it.each([
    ['text', BODY],
    ['bytes', new TextEncoder().encode(BODY)],
    ['a part of a larger buffer', Buffer.from(`xx${BODY}`).subarray(2)],
  ])('returns the event of a valid delivery: %s', (_, payload) => {
    expect(verifyWebhook(payload, sign(BODY), SECRET)).toMatchObject({
      event: 'envelope.signed',
      envelopeId: 'env_1',
      status: 'IN_PROGRESS',
      signer: 'ada@example.com',
      body: { data: { envelopeId: 'env_1' } },
    });
  });

  it('accepts any of several secrets, and the form sha256=', () => {
    const event = verifyWebhook(BODY, [`sha256=${sign(BODY)}`], ['another secret of a rotation', SECRET]);
    expect(event.envelopeId).toBe('env_1');
  });

  it('parses the other payload shape, with the same ID when it is repeated', () => {
    const body = JSON.stringify({ id: 'evt_1', type: 'envelope.sent', createdAt: 'now', data: {} });
    expect(verifyWebhook(body, sign(body), SECRET)).toMatchObject({ id: 'evt_1', event: 'envelope.sent' });
    expect(verifyWebhook(BODY, sign(BODY), SECRET).id).toBe(verifyWebhook(BODY, sign(BODY), SECRET).id);
  });

  it.each([
    ['a different secret', BODY, sign(BODY, 'another secret here')],
    ['a changed body', `${BODY} `, sign(BODY)],
    ['no signature', BODY, undefined],
    ['a null signature', BODY, null],
    ['an empty signature', BODY, ''],
    ['two signatures', BODY, [sign(BODY), sign(BODY)]],
    ['a body that is not an object', '[]', sign('[]')],
    ['a body that is not JSON', 'x', sign('x')],
  ])('refuses %s', (_, payload, signature) => {
    expect(() => verifyWebhook(payload, signature, SECRET)).toThrow(VerificationError);
  });

  it.each([
    ['no secret', BODY, undefined],
    ['no secrets', BODY, []],
    ['an empty secret', BODY, ['']],
    ['a line break', BODY, '\n'],
  ])('requires a secret: %s', (_, payload, secrets) => {
    expect(() => verifyWebhook(payload, sign(BODY, '\n'), secrets)).toThrow(UsageError);
  });

  it('refuses a parsed body', () => {
    const parsed: unknown = JSON.parse(BODY);
    expect(() => void Reflect.apply(verifyWebhook, undefined, [parsed, sign(BODY), SECRET])).toThrow(
      UsageError,
    );
  });
});
