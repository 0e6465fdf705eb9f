import { expect, test } from 'vitest';
import { SandboxRateWindow } from '../../../src/sandbox/service/api/rate-window.ts';
import { startReceiver } from './receiver.ts';
import { deliveriesOf, envelopeIn, errorIn, request, startRig, twoSigners } from './rig.ts';

test('The API is under /api/v1 and nowhere else', async () => {
  const rig = await startRig();
  const { origin, apiKey } = rig.service;
  expect((await request(`${origin}/api/v1/esign/templates`, 'GET', undefined, apiKey)).status).toBe(200);
  for (const prefix of ['', '/api', '/v1', '/api/v2', '/api/v10'])
    expect([
      prefix,
      (await request(`${origin}${prefix}/esign/templates`, 'GET', undefined, apiKey)).status,
    ]).toEqual([prefix, 404]);
});

test('Templates can only be read', async () => {
  const rig = await startRig();
  const before = (await rig.api('GET', '/esign/templates')).text;
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    for (const path of ['/esign/templates', '/esign/templates/tmpl_lease'])
      expect(errorIn(await rig.api(method, path, { name: 'Mine' })).is).toBe('405 NOT_FOUND');
  expect((await rig.api('GET', '/esign/templates')).text).toBe(before);
});

test('A key cannot modify organization settings or manage keys: the API has no such routes', async () => {
  const rig = await startRig();
  for (const path of ['/keys', '/api-keys', '/organization', '/settings', '/esign/keys', '/audit'])
    for (const method of ['GET', 'POST', 'DELETE'])
      expect(errorIn(await rig.api(method, path)).is).toBe('404 NOT_FOUND');
});

test('A key without an expiration never expires', async () => {
  const rig = await startRig();
  const { key } = await rig.makeKey({});
  for (let decade = 0; decade < 5; decade += 1)
    await rig.control('POST', '/clock/advance', { ms: 3650 * 86_400_000 });
  expect((await rig.api('GET', '/esign/templates', undefined, key)).status).toBe(200);
});

test.each([2_000, 10_000])('A tier of %i requests per 15 minutes allows exactly this number', (requests) => {
  const window = new SandboxRateWindow({ requests, seconds: 15 * 60 });
  const allowed = (at: number) => window.take('key_1', at).allowed;
  const start = Date.parse('2026-03-01T00:00:00Z');
  for (let n = 0; n < requests; n += 1) expect(allowed(start + n)).toBe(true);
  expect(allowed(start + 899_999)).toBe(false);
  expect(allowed(start + 900_000)).toBe(true);
});

test('Webhooks are configured per envelope: each goes to its own webhookUrl; without one, nothing is sent', async () => {
  const one = await startReceiver();
  const two = await startReceiver();
  const rig = await startRig();
  const first = await rig.create({ sendImmediately: true, webhookUrl: one.url });
  const second = await rig.create({ sendImmediately: true, webhookUrl: two.url });
  const silent = await rig.create({ sendImmediately: true });
  await Promise.all([one.count(1), two.count(1)]);
  expect(one.received.map((got) => got.body.data.envelopeId)).toEqual([first.id]);
  expect(two.received.map((got) => got.body.data.envelopeId)).toEqual([second.id]);
  expect(await deliveriesOf(rig, silent.id)).toEqual([]);
});

test("signers[].order is kept, and role must be one of the template's", async () => {
  const rig = await startRig();
  const signers = [{ email: 'a@example.com', name: 'A', role: 'Witness', order: 2 }];
  const error = errorIn(await rig.api('POST', '/esign/envelopes', { ...twoSigners, signers }));
  expect([error.is, error.details]).toEqual([
    '400 VALIDATION_ERROR',
    { 'signers.0.role': [expect.stringContaining('Tenant, Landlord')] },
  ]);
  const good = signers.map((signer) => ({ ...signer, role: 'Landlord' }));
  const made = envelopeIn(await rig.api('POST', '/esign/envelopes', { ...twoSigners, signers: good }));
  expect(made.signers[0]).toMatchObject({ role: 'Landlord', order: 2 });
});
