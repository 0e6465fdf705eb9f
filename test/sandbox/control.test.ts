import { expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';
import { ada, bob, DAY, errorIn, listIn, mailsOf, plainDocuments, request, startRig } from './rig.ts';

test('The control plane requires a key of the default organization with esign:write', async () => {
  const rig = await startRig();
  const url = `${rig.service.origin}/__sandbox/`;
  const reader = await rig.makeKey({ scopes: ['esign:read'] });
  const foreign = await rig.makeKey({ scopes: ['esign:write'], orgId: 'org_other' });
  const writer = await rig.makeKey({ scopes: ['esign:write'] });
  const tries = [null, 'wrong', reader.key, foreign.key];
  const seen = [];
  for (const key of tries) seen.push(errorIn(await request(url, 'GET', undefined, key)).is);
  expect(seen).toEqual(['401 UNAUTHORIZED', '401 UNAUTHORIZED', '403 FORBIDDEN', '403 FORBIDDEN']);
  expect((await request(url, 'GET', undefined, writer.key)).status).toBe(200);
});

test('sign fills the fields of the role: given values, otherwise plausible ones', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true });
  await rig.act(id, 'sign', {
    signer: 'ADA@example.com',
    values: { tenant_term: '2 years', tenant_agrees: false },
  });
  const done = await rig.act(id, 'sign');
  const values: unknown = JSON.parse(
    /\[.*\]$/.exec(rig.objects.text(done.signedDocumentStorageKey) ?? '')?.[0] ?? '',
  );
  expect(values).toEqual([
    {
      tenant_sig: ada.name,
      tenant_initials: 'AL',
      tenant_date: done.completedAt?.slice(0, 10),
      tenant_email: ada.email,
      tenant_agrees: 'false',
      tenant_term: '2 years',
    },
    { landlord_sig: bob.name },
  ]);
});

test('sign refuses invalid values, and changes nothing', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true });
  const before = await rig.get(id);
  const values = {
    landlord_sig: 'x',
    nothing: 'y',
    tenant_term: '9 years',
    tenant_agrees: 'maybe',
    tenant_sig: ' ',
  };
  const error = errorIn(await rig.control('POST', `/envelopes/${id}/sign`, { values }));
  expect(error.details).toEqual({
    'values.landlord_sig': ['Unknown field for Tenant'],
    'values.nothing': ['Unknown field for Tenant'],
    'values.tenant_term': [expect.stringContaining('1 year, 2 years')],
    'values.tenant_agrees': [expect.stringContaining('true or false')],
    'values.tenant_sig': ['Tenant signature is required'],
  });
  expect(await rig.get(id)).toEqual(before);
  expect(errorIn(await rig.control('POST', `/envelopes/${id}/sign`, { all: true, signer: 'x' })).is).toBe(
    '400 VALIDATION_ERROR',
  );
});

test.each([0, -1, 1.5, '5', null, 1e15, undefined])('advance by %s is a VALIDATION_ERROR', async (ms) => {
  const rig = await startRig();
  expect(errorIn(await rig.control('POST', '/clock/advance', { ms })).details).toHaveProperty('ms');
});

test('The clock stays within a century', async () => {
  const rig = await startRig();
  const decade = { ms: 10 * 365 * DAY };
  for (let n = 0; n < 10; n += 1)
    expect((await rig.control('POST', '/clock/advance', decade)).status).toBe(200);
  expect(errorIn(await rig.control('POST', '/clock/advance', decade)).is).toBe('400 VALIDATION_ERROR');
});

test('reset restores the templates and keeps the default key', async () => {
  const receiver = await startReceiver(() => 500);
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await receiver.count(1);
  const other = await rig.makeKey({});
  await rig.control('POST', '/clock/advance', { ms: 5000 });
  expect((await rig.control('POST', '/reset')).body).toMatchObject({
    clockOffsetMs: 0,
    orgId: rig.service.orgId,
  });
  expect(errorIn(await rig.api('GET', `/esign/envelopes/${id}`)).is).toBe('404 NOT_FOUND');
  expect(listIn(await rig.api('GET', '/esign/envelopes')).meta.pagination.total).toBe(0);
  expect(listIn(await rig.api('GET', '/esign/templates')).data).toHaveLength(3);
  expect(await mailsOf(rig, id)).toEqual([]);
  expect((await rig.api('GET', '/esign/templates', undefined, other.key)).status).toBe(401);
  await rig.control('POST', '/clock/advance', { ms: DAY });
  expect(receiver.received).toHaveLength(1);
  await rig.service.close();
  const again = await startRig({ dataDir: rig.dataDir });
  expect(again.service.apiKey).toBe(rig.service.apiKey);
  expect(listIn(await again.api('GET', '/esign/envelopes')).data).toEqual([]);
});

test('An envelope that is completed while a reset deletes it leaves no documents', async () => {
  const drawing = gate();
  const documents = {
    ...plainDocuments,
    signed: async (input: Parameters<typeof plainDocuments.signed>[0]) => {
      await drawing.wait();
      return plainDocuments.signed(input);
    },
  };
  const rig = await startRig({ documents });
  const { id } = await rig.create({ sendImmediately: true });
  const signing = rig.control('POST', `/envelopes/${id}/sign`, { all: true });
  await drawing.reached;
  await rig.control('POST', '/reset');
  drawing.release();
  expect(errorIn(await signing).is).toBe('404 NOT_FOUND');
  expect([...rig.objects.stored.keys()]).toEqual([]);
});

function gate() {
  let [arrive, release] = [() => {}, () => {}];
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  const wait = () => {
    arrive();
    return opened;
  };
  return { reached, release, wait };
}
