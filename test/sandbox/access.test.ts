import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { DAY, envelopeIn, errorIn, listIn, plainDocuments, request, startRig, twoSigners } from './rig.ts';

const rateOf = (headers: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));

test('A missing or invalid key gives 401 UNAUTHORIZED, without rate headers', async () => {
  const rig = await startRig();
  for (const key of [null, '', 'wrong', `${rig.service.apiKey}x`, rig.service.apiKey.toUpperCase()]) {
    const reply = await rig.api('GET', '/esign/templates', undefined, key);
    expect(errorIn(reply).is).toBe('401 UNAUTHORIZED');
    expect(rateOf(reply.headers)).toEqual([null, null, null]);
  }
  const basic = await request(`${rig.service.origin}/api/v1/esign/templates`, 'GET', undefined, null, {
    authorization: `Basic ${rig.service.apiKey}`,
  });
  expect(errorIn(basic).is).toBe('401 UNAUTHORIZED');
  expect(errorIn(await rig.api('GET', '/nowhere', undefined, null)).is).toBe('401 UNAUTHORIZED');
});

test('esign:read and esign:write are checked first: a key without the scope gets 403 FORBIDDEN', async () => {
  const rig = await startRig();
  const { id } = await rig.create();
  const reads = [
    ['GET', '/esign/templates'],
    ['GET', '/esign/templates/tmpl_lease'],
    ['GET', '/esign/envelopes'],
    ['GET', `/esign/envelopes/${id}`],
  ] as const;
  const writes = [
    ['POST', '/esign/envelopes'],
    ['POST', `/esign/envelopes/${id}/send`],
    ['POST', `/esign/envelopes/${id}/cancel`],
    ['POST', `/esign/envelopes/env_none/remind`],
  ] as const;
  const reader = await rig.makeKey({ scopes: ['esign:read'] });
  const writer = await rig.makeKey({ scopes: ['esign:write'] });
  for (const [method, path] of reads) {
    expect((await rig.api(method, path, undefined, reader.key)).status).toBe(200);
    expect(errorIn(await rig.api(method, path, undefined, writer.key)).is).toBe('403 FORBIDDEN');
  }
  for (const [method, path] of writes)
    expect(errorIn(await rig.api(method, path, '{not json', reader.key)).is).toBe('403 FORBIDDEN');
  expect((await rig.api('POST', '/esign/envelopes', twoSigners, writer.key)).status).toBe(201);
});

test('Revoking a key is immediate and permanent', async () => {
  const rig = await startRig();
  const { id, key } = await rig.makeKey({});
  expect((await rig.api('GET', '/esign/templates', undefined, key)).status).toBe(200);
  await rig.control('POST', `/keys/${id}/revoke`);
  expect(errorIn(await rig.api('GET', '/esign/templates', undefined, key)).is).toBe('401 UNAUTHORIZED');
  await rig.control('POST', `/keys/${id}/revoke`);
  expect(errorIn(await rig.api('GET', '/esign/templates', undefined, key)).is).toBe('401 UNAUTHORIZED');
});

test('An expired key is unusable', async () => {
  const rig = await startRig();
  const expiresAt = new Date(Date.now() + DAY).toISOString();
  const { key } = await rig.makeKey({ expiresAt });
  expect((await rig.api('GET', '/esign/templates', undefined, key)).status).toBe(200);
  await rig.control('POST', '/clock/advance', { ms: DAY });
  const error = errorIn(await rig.api('GET', '/esign/templates', undefined, key));
  expect([error.is, error.message]).toEqual(['401 UNAUTHORIZED', expect.stringContaining('has expired')]);
});

test('A key cannot reach other organizations: a foreign envelope is not found, not listed, not changed', async () => {
  const rig = await startRig();
  const { id } = await rig.create();
  const { key } = await rig.makeKey({ orgId: 'org_other', scopes: ['esign:read', 'esign:write'] });
  expect(listIn(await rig.api('GET', '/esign/envelopes', undefined, key)).data).toEqual([]);
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/send'],
    ['POST', '/cancel'],
    ['POST', '/remind'],
  ] as const)
    expect(errorIn(await rig.api(method, `/esign/envelopes/${id}${path}`, undefined, key)).is).toBe(
      '404 NOT_FOUND',
    );
  expect((await rig.get(id)).status).toBe('DRAFT');
  const theirs = envelopeIn(await rig.api('POST', '/esign/envelopes', twoSigners, key));
  expect(theirs.documentStorageKey).toBe(`esign/envelopes/org_other/${theirs.id}/document.pdf`);
  expect(listIn(await rig.api('GET', '/esign/envelopes')).data.map((one) => one.id)).toEqual([id]);
});

test('The full key is shown once at creation; the list shows name, prefix, dates, and expiration status', async () => {
  const rig = await startRig();
  const made = await rig.makeKey({ name: 'CI', description: 'for builds' });
  await rig.api('GET', '/esign/templates', undefined, made.key);
  const list = await rig.control('GET', '/keys');
  expect(list.text).not.toContain(made.key);
  const shape = z.object({ data: z.array(z.looseObject({ id: z.string() })) });
  const ci = shape.parse(list.body).data.find((key) => key.id === made.id);
  expect(ci).toMatchObject({
    name: 'CI',
    description: 'for builds',
    prefix: made.key.slice(0, 8),
    status: 'active',
  });
  expect(ci?.lastUsedAt).not.toBeNull();
});

test('Exceeding the limit gives 429 RATE_LIMITED; every authenticated response has the three headers', async () => {
  let now = Date.parse('2026-03-01T00:00:00.250Z');
  const clock: Clock = { ...systemClock, now: () => now };
  const rig = await startRig({ clock, rateLimit: { requests: 3, seconds: 10 } });
  const reset = String(Date.parse('2026-03-01T00:00:10.000Z') / 1000);
  const seen = [
    await rig.api('GET', '/esign/templates'),
    await rig.api('GET', '/esign/envelopes/env_none'),
    await rig.api('POST', '/esign/envelopes', '{'),
    await rig.api('GET', '/esign/templates'),
    await rig.api('GET', '/esign/templates'),
  ];
  expect(seen.map((reply) => [reply.status, ...rateOf(reply.headers)])).toEqual([
    [200, '3', '2', reset],
    [404, '3', '1', reset],
    [400, '3', '0', reset],
    [429, '3', '0', reset],
    [429, '3', '0', reset],
  ]);
  expect(seen[3] && errorIn(seen[3]).is).toBe('429 RATE_LIMITED');
  const other = await rig.makeKey({});
  expect((await rig.api('GET', '/esign/templates', undefined, other.key)).status).toBe(200);
  now += 9_749;
  expect((await rig.api('GET', '/esign/templates')).status).toBe(429);
  now += 1;
  expect(rateOf((await rig.api('GET', '/esign/templates')).headers).slice(0, 2)).toEqual(['3', '2']);
});

test("The Date header has the sandbox's time in every response, and X-RateLimit-Reset is based on it", async () => {
  const rig = await startRig({ rateLimit: { requests: 4, seconds: 900 } });
  const { origin } = rig.service;
  for (const time of [{ days: 0 }, { days: 31 }]) {
    const isNow = (headers: Headers) => {
      const off = Date.parse(headers.get('date') ?? '') - Date.now() - time.days * DAY;
      expect(Math.abs(off)).toBeLessThan(60_000);
    };
    if (time.days > 0) await rig.control('POST', '/clock/advance', { ms: time.days * DAY });
    await rig.control('POST', '/faults', { error500: { times: 1 }, truncate: { times: 1 } });
    const headersOf = async (path: string, key = rig.service.apiKey) => {
      const reply = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${key}` } });
      await reply.text().catch(() => undefined);
      return reply.headers;
    };
    for (let nth = 0; nth < 2; nth += 1) isNow(await headersOf('/api/v1/esign/templates'));
    isNow(await headersOf('/api/v1/esign/templates', 'wrong'));
    isNow(await headersOf('/'));
    const { headers } = await rig.api('GET', '/esign/templates');
    isNow(headers);
    const left = Number(headers.get('x-ratelimit-reset')) * 1_000 - Date.parse(headers.get('date') ?? '');
    expect(left).toBeGreaterThan(800_000);
    expect(left).toBeLessThanOrEqual(900_000);
  }
  await rig.control('POST', '/reset');
  expect(rateOf((await rig.api('GET', '/esign/templates')).headers)[1]).toBe('3');
});

test('The audit log contains key creation, revocation, successful and failed requests, and rate-limit violations', async () => {
  const rig = await startRig({ rateLimit: { requests: 2, seconds: 900 } });
  const { id, key } = await rig.makeKey({});
  await rig.api('GET', '/esign/templates?page=1', undefined, key);
  await rig.api('POST', '/esign/envelopes', twoSigners, key);
  await rig.api('GET', '/esign/templates', undefined, key);
  await rig.api('GET', '/esign/templates', undefined, null);
  await rig.control('POST', `/keys/${id}/revoke`);
  const { data } = listIn(await rig.control('GET', '/audit'));
  const seen = data
    .toReversed()
    .map((entry) => [entry.action, entry.method, entry.path, entry.status, entry.keyId]);
  expect(seen).toEqual([
    ['key.created', null, null, null, id],
    ['api.request', 'GET', '/api/v1/esign/templates', 200, id],
    ['api.request', 'POST', '/api/v1/esign/envelopes', 403, id],
    ['api.rate_limited', 'GET', '/api/v1/esign/templates', 429, id],
    ['api.request', 'GET', '/api/v1/esign/templates', 401, null],
    ['key.revoked', null, null, null, id],
  ]);
});

test('No log, page, or reply contains an API key, also one that was passed in a query', async () => {
  const problems: string[] = [];
  const documents = { ...plainDocuments, document: () => Promise.reject(new Error('no ink')) };
  const rig = await startRig({ documents, onProblem: (line) => problems.push(line) });
  const { apiKey, origin } = rig.service;
  const { key } = await rig.makeKey({ scopes: ['esign:write'] });
  const replies = [
    await rig.api('GET', `/esign/envelopes/env_1?api_key=${key}`),
    await rig.api('POST', `/esign/envelopes?api_key=${key}`, twoSigners),
    await rig.api('GET', `/esign/envelopes?page=${key}`),
    await rig.api('GET', '/esign/envelopes', undefined, `${key}x`),
    await rig.control('GET', '/audit'),
    await rig.control('GET', '/keys'),
    await rig.control('GET', `/envelopes/${key}`),
    await request(`${origin}/?key=${key}`, 'GET'),
    await request(`${origin}/mailbox/${key}`, 'GET'),
    await request(`${origin}/sign/${key}`, 'GET'),
  ];
  expect(problems).toHaveLength(1);
  for (const text of [...problems, ...replies.map((reply) => reply.text)]) {
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain(key);
  }
});
