import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  ada,
  bob,
  DAY,
  envelopeIn,
  envelopeShape,
  errorIn,
  lease,
  listIn,
  literal,
  request,
  startRig,
  twoSigners,
} from './rig.ts';

const templateShape = z.strictObject({
  id: z.string().regex(/^tmpl_/),
  name: z.string(),
  description: z.string(),
  pageCount: z.int(),
  fields: z.array(
    z.strictObject({
      fieldId: z.string(),
      type: z.string(),
      label: z.string(),
      required: z.boolean(),
      page: z.int(),
    }),
  ),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

test('GET /esign/templates returns an array of templates with exactly the documented fields, and meta.pagination', async () => {
  const rig = await startRig({ choices: literal });
  const reply = await rig.api('GET', '/esign/templates');
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  const { data, meta } = listIn(reply);
  expect(data.map((one) => templateShape.parse(one).id)).toEqual(['tmpl_lease', 'tmpl_nda', 'tmpl_offer']);
  expect(meta.pagination).toEqual({ page: 1, pageSize: 20, total: 3, totalPages: 1 });
});

test('Only active templates are listed', async () => {
  const rig = await startRig();
  expect(listIn(await rig.api('GET', '/esign/templates')).data.map((one) => one.id)).not.toContain(
    'tmpl_old',
  );
  const create = await rig.api('POST', '/esign/envelopes', { ...twoSigners, templateId: 'tmpl_old' });
  expect(errorIn(create).is).toBe('400 VALIDATION_ERROR');
});

test('GET /esign/templates/{id} returns one template, and NOT_FOUND for an unknown ID', async () => {
  const rig = await startRig({ choices: literal });
  const reply = await rig.api('GET', '/esign/templates/tmpl_lease');
  const { data } = z.strictObject({ data: templateShape }).parse(reply.body);
  expect(data.fields).toHaveLength(lease.fields.length);
  expect(data.fields[0]).toEqual({
    fieldId: 'tenant_sig',
    type: 'SIGNATURE',
    label: 'Tenant signature',
    required: true,
    page: 1,
  });
  for (const id of ['tmpl_none', '__proto__', 'constructor', '%00', '..%2f..'])
    expect(errorIn(await rig.api('GET', `/esign/templates/${id}`)).is).toBe('404 NOT_FOUND');
});

test('POST /esign/envelopes returns 201 and a draft with every default, with document.pdf already in the bucket', async () => {
  const rig = await startRig();
  const reply = await rig.api('POST', '/esign/envelopes', twoSigners);
  expect(reply.status).toBe(201);
  const envelope = envelopeIn(reply);
  expect(envelope).toMatchObject({
    status: 'DRAFT',
    templateId: 'tmpl_lease',
    templateName: 'Lease',
    signingOrder: 'PARALLEL',
    subject: 'Please sign: Lease',
    message: '',
    metadata: {},
    webhookUrl: null,
    sentAt: null,
    completedAt: null,
    signedDocumentStorageKey: null,
    certificateStorageKey: null,
  });
  expect(envelope.signers).toMatchObject([
    { ...ada, role: 'Tenant', order: 1, status: 'PENDING', signedAt: null },
    { ...bob, role: 'Landlord', order: 2, status: 'PENDING', signedAt: null },
  ]);
  expect(Date.parse(envelope.expiresAt) - Date.parse(envelope.createdAt)).toBe(30 * DAY);
  expect(envelope.documentStorageKey).toBe(
    `esign/envelopes/${rig.service.orgId}/${envelope.id}/document.pdf`,
  );
  expect(rig.objects.text(envelope.documentStorageKey)).toBe('%PDF-1.7 document of tmpl_lease');
  expect(await rig.get(envelope.id)).toEqual(envelope);
});

test('Every field of the body is stored; webhookSecret is accepted and never returned', async () => {
  const rig = await startRig();
  const secret = 'a-very-secret-word';
  const reply = await rig.api('POST', '/esign/envelopes', {
    templateId: 'tmpl_lease',
    signers: [
      { ...ada, role: 'Landlord', order: 7 },
      { ...bob, role: 'Tenant', order: 3 },
    ],
    subject: 'Łukasz, please 李',
    message: 'two\nlines',
    metadata: { deal: 12, nested: { list: [1, null, true] } },
    webhookUrl: 'http://127.0.0.1:9/hook',
    webhookSecret: secret,
    expiresInDays: 3,
    signingOrder: 'SEQUENTIAL',
    sendImmediately: false,
  });
  const envelope = envelopeIn(reply);
  expect(envelope).toMatchObject({
    subject: 'Łukasz, please 李',
    message: 'two\nlines',
    metadata: { deal: 12, nested: { list: [1, null, true] } },
    webhookUrl: 'http://127.0.0.1:9/hook',
    signingOrder: 'SEQUENTIAL',
    status: 'DRAFT',
  });
  expect(envelope.signers.map(({ role, order }) => [role, order])).toEqual([
    ['Landlord', 7],
    ['Tenant', 3],
  ]);
  expect(Date.parse(envelope.expiresAt) - Date.parse(envelope.createdAt)).toBe(3 * DAY);
  const list = await rig.api('GET', '/esign/envelopes');
  expect(reply.text + list.text).not.toContain(secret);
});

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

test('GET /esign/envelopes returns full envelopes in pages from 1, newest first, 20 per page by default', async () => {
  const rig = await startRig();
  const ids: string[] = [];
  for (let n = 0; n < 23; n += 1) ids.unshift((await rig.create({ subject: `n${n}` })).id);
  const first = listIn(await rig.api('GET', '/esign/envelopes'));
  expect(first.meta.pagination).toEqual({ page: 1, pageSize: 20, total: 23, totalPages: 2 });
  expect(first.data.map((one) => envelopeShape.parse(one).id)).toEqual(ids.slice(0, 20));
  const second = listIn(await rig.api('GET', '/esign/envelopes?page=2'));
  expect(second.data.map((one) => one.id)).toEqual(ids.slice(20));
  const small = listIn(await rig.api('GET', '/esign/envelopes?page=3&pageSize=5'));
  expect(small.data.map((one) => one.id)).toEqual(ids.slice(10, 15));
  expect(small.meta.pagination.totalPages).toBe(5);
  const beyond = listIn(await rig.api('GET', '/esign/envelopes?page=99999&pageSize=100'));
  expect(beyond.data).toEqual([]);
  expect(beyond.meta.pagination.total).toBe(23);
});

test('GET /esign/envelopes?status= lists only that status', async () => {
  const rig = await startRig();
  await rig.create();
  const sent = await rig.create({ sendImmediately: true });
  expect(listIn(await rig.api('GET', '/esign/envelopes?status=SENT')).data.map((one) => one.id)).toEqual([
    sent.id,
  ]);
  expect(listIn(await rig.api('GET', '/esign/envelopes?status=EXPIRED')).meta.pagination).toEqual({
    page: 1,
    pageSize: 20,
    total: 0,
    totalPages: 0,
  });
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

test('pageSize is at most 100', async () => {
  const rig = await startRig();
  expect(listIn(await rig.api('GET', '/esign/templates?pageSize=100')).meta.pagination.pageSize).toBe(100);
});

test('An unknown envelope gives NOT_FOUND on every route', async () => {
  const rig = await startRig();
  const replies = [
    await rig.api('GET', '/esign/envelopes/env_none'),
    await rig.api('POST', '/esign/envelopes/env_none/send'),
    await rig.api('POST', '/esign/envelopes/env_none/cancel', { reason: 7 }),
    await rig.api('POST', '/esign/envelopes/env_none/remind', { signerId: 'x' }),
    await rig.api('POST', '/esign/envelopes', { ...twoSigners, templateId: 'tmpl_none' }),
  ];
  expect(replies.map((reply) => errorIn(reply).is)).toEqual(Array(5).fill('404 NOT_FOUND'));
});

test('An unknown route or method gives NOT_FOUND', async () => {
  const rig = await startRig();
  for (const path of ['', '/', '/esign', '/esign/nothing', '/esign/templates/', '/esign/envelopes/a/b/c'])
    expect(errorIn(await rig.api('GET', path)).is).toBe('404 NOT_FOUND');
  expect(errorIn(await request(`${rig.service.origin}/elsewhere`, 'GET')).is).toBe('404 NOT_FOUND');
  expect(errorIn(await rig.api('DELETE', '/esign/envelopes/env_1')).is).toBe('404 NOT_FOUND');
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
