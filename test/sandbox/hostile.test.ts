import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { envelopeIn, errorIn, mailsOf, request, startRig, twoSigners } from './rig.ts';

/** Sends raw bytes and returns the complete response, until the connection ends. */
function raw(origin: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

test('metadata with __proto__, constructor, and prototype keys is returned and harmless', async () => {
  const rig = await startRig();
  const metadata =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"":null}';
  const reply = await rig.api(
    'POST',
    '/esign/envelopes',
    JSON.stringify(twoSigners).replace(/}$/, `,"metadata":${metadata}}`),
  );
  expect(reply.status).toBe(201);
  expect(reply.text).toContain(`"metadata":${metadata}`);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  const { id } = envelopeIn(reply);
  await rig.service.close();
  const again = await startRig({ dataDir: rig.dataDir });
  expect((await again.api('GET', `/esign/envelopes/${id}`)).text).toContain(`"metadata":${metadata}`);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

test('__proto__ as a field of the body, a signer, or values is an unknown field', async () => {
  const rig = await startRig();
  const base = JSON.stringify(twoSigners);
  const top = await rig.api('POST', '/esign/envelopes', base.replace(/}$/, ',"__proto__":{}}'));
  expect([top.status, top.text]).toEqual([
    400,
    expect.stringContaining('"details":{"__proto__":["Unknown field"]}'),
  ]);
  const inner = errorIn(
    await rig.api('POST', '/esign/envelopes', base.replace('{"email"', '{"__proto__":{},"email"')),
  );
  expect(inner.details).toEqual({ 'signers.0.__proto__': ['Unknown field'] });
  const { id } = await rig.create({ sendImmediately: true });
  const values = await rig.control(
    'POST',
    `/envelopes/${id}/sign`,
    '{"values":{"__proto__":"x","constructor":"y"}}',
  );
  expect(values.status).toBe(400);
});

test('Bytes that are not UTF-8 are refused', async () => {
  const rig = await startRig();
  const head = `POST /api/v1/esign/envelopes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${rig.service.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 5\r\nConnection: close\r\n\r\n`;
  const text = await raw(
    rig.service.origin,
    Buffer.concat([Buffer.from(head), Buffer.from('7b22ff227d', 'hex')]),
  );
  expect(text).toMatch(/^HTTP\/1\.1 400 .*"details":\{"body":\["Must be JSON"\]\}/s);
});

test('Nesting that is too deep to be serialized is refused, in metadata and elsewhere', async () => {
  const rig = await startRig();
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const withMetadata = (text: string) =>
    JSON.stringify(twoSigners).replace(/}$/, `,"metadata":{"a":${text}}}`);
  const error = errorIn(await rig.api('POST', '/esign/envelopes', withMetadata(deep(200_000))));
  expect(error.details).toEqual({ metadata: [expect.stringContaining('32 levels')] });
  expect((await rig.api('POST', '/esign/envelopes', withMetadata(deep(31)))).status).toBe(201);
  for (const body of [deep(500_000), `{"signers":${deep(200_000)},"templateId":${deep(200_000)}}`])
    expect(errorIn(await rig.api('POST', '/esign/envelopes', body)).is).toBe('400 VALIDATION_ERROR');
});

test('A body over 1 MiB is refused with 413 in the same shape, with or without a length; the service continues', async () => {
  const rig = await startRig();
  const big = JSON.stringify({ ...twoSigners, message: 'x'.repeat(2 ** 20) });
  const announced = await rig.api('POST', '/esign/envelopes', big);
  expect(errorIn(announced).is).toBe('413 VALIDATION_ERROR');
  const chunks = `${(2 ** 21).toString(16)}\r\n${'x'.repeat(2 ** 21)}\r\n0\r\n\r\n`;
  const chunked = await raw(
    rig.service.origin,
    `POST /api/v1/esign/envelopes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${rig.service.apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}`,
  );
  expect(chunked).toMatch(/^HTTP\/1\.1 413 .*"VALIDATION_ERROR"/s);
  const just = JSON.stringify({ ...twoSigners, metadata: { text: 'x'.repeat(2 ** 20 - 300) } });
  expect((await rig.api('POST', '/esign/envelopes', just)).status).toBe(201);
});

test('A form over 1 MiB is refused with 413, with or without a length', async () => {
  const rig = await startRig();
  const { id } = await rig.create({ sendImmediately: true });
  const [, link = ''] = /http:\S+(\/sign\/\w+)/.exec((await mailsOf(rig, id))[0]?.text ?? '') ?? [];
  const post = (size: number, framed: string) =>
    raw(
      rig.service.origin,
      `POST ${link}/decline HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n${framed.replace('BODY', `reason=${'x'.repeat(size - 7)}`)}`,
    );
  const announced = (size: number) => post(size, `Content-Length: ${size}\r\n\r\nBODY`);
  const chunked = (size: number) =>
    post(size, `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\nBODY\r\n0\r\n\r\n`);
  for (const send of [announced, chunked]) expect(await send(2 ** 21)).toMatch(/^HTTP\/1\.1 413 /);
  expect((await rig.get(id)).status).toBe('SENT');
  for (const send of [announced, chunked]) expect(await send(2 ** 20)).toMatch(/^HTTP\/1\.1 303 /);
  expect((await rig.get(id)).status).toBe('DECLINED');
});

test('Another content type is a VALIDATION_ERROR; a charset is allowed', async () => {
  const rig = await startRig();
  const post = (type: string) =>
    request(`${rig.service.origin}/api/v1/esign/envelopes`, 'POST', twoSigners, rig.service.apiKey, {
      'content-type': type,
    });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx'])
    expect(errorIn(await post(type)).details).toEqual({ body: ['Send Content-Type: application/json'] });
  expect((await post('Application/JSON; charset=utf-8')).status).toBe(201);
});
