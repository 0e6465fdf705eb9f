import { expect, test } from 'vitest';
import { ada, DAY, errorIn, startRig, twoSigners } from './rig.ts';

test('A signer without a role takes the next free role of the template, then the last', async () => {
  const rig = await startRig();
  const roles = async (...signers: { role?: string }[]) =>
    (await rig.create({ signers: signers.map((one) => ({ ...ada, ...one })) })).signers.map(
      (one) => one.role,
    );
  expect(await roles({}, {}, {})).toEqual(['Tenant', 'Landlord', 'Landlord']);
  expect(await roles({}, { role: 'Tenant' })).toEqual(['Landlord', 'Tenant']);
  expect(await roles({})).toEqual(['Tenant']);
});

test.each([
  ['page=0', 'page'],
  ['page=-1', 'page'],
  ['page=1.5', 'page'],
  ['page=abc', 'page'],
  ['page=', 'page'],
  ['pageSize=0', 'pageSize'],
  ['pageSize=101', 'pageSize'],
  ['status=sent', 'status'],
  ['status=', 'status'],
])('A query of %s is a VALIDATION_ERROR about %s', async (query, name) => {
  const rig = await startRig();
  const error = errorIn(await rig.api('GET', `/esign/envelopes?${query}`));
  expect(error.is).toBe('400 VALIDATION_ERROR');
  expect(Object.keys(error.details ?? {})).toEqual([name]);
});

test('HEAD responds like GET without a body', async () => {
  const rig = await startRig();
  const reply = await rig.api('HEAD', '/esign/templates');
  expect([reply.status, reply.text]).toEqual([200, '']);
  expect(reply.headers.get('x-ratelimit-limit')).toBe('10000');
});

test('QUOTA_EXCEEDED counts the envelopes of a month, also in concurrent requests, and restarts next month', async () => {
  const rig = await startRig({ quota: 2 });
  await rig.create({ signers: Array(20).fill(ada) });
  const replies = await Promise.all([1, 2].map(() => rig.api('POST', '/esign/envelopes', twoSigners)));
  const statuses = replies.map((reply) => reply.status).sort();
  expect(statuses).toEqual([201, 403]);
  const refused = replies.find((reply) => reply.status === 403);
  expect(refused && errorIn(refused).is).toBe('403 QUOTA_EXCEEDED');
  await rig.control('POST', '/clock/advance', { ms: 31 * DAY });
  expect((await rig.create()).status).toBe('DRAFT');
});
