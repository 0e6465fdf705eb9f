import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { BUCKET, owner, REGION, type Rig, refusal, send, signed, startRig } from './rig.ts';
import { presign, type Who } from './witness.ts';

const Bucket = BUCKET;
const get = new GetObjectCommand({ Bucket, Key: 'k' });
const witness: Who = { ...owner, region: REGION, service: 's3' };

async function rigWithObject(options: Parameters<typeof startRig>[0] = {}): Promise<Rig> {
  const rig = await startRig(options);
  await rig.server.objects.put('k', Buffer.from('secret'), 'text/plain');
  return rig;
}

describe('a request without a valid key', () => {
  it('reports to the SDK whether the key or the secret was wrong', async () => {
    const rig = await rigWithObject();
    const wrongSecret = rig.client({ credentials: { ...owner, secretAccessKey: 'nope' } });
    expect(await refusal(wrongSecret.send(get))).toBe('SignatureDoesNotMatch 403');
    expect(await refusal(wrongSecret.send(new HeadObjectCommand({ Bucket, Key: 'k' })))).toMatch(/ 403$/);
    const wrongKey = rig.client({ credentials: { ...owner, accessKeyId: 'AKIDNOBODY' } });
    expect(await refusal(wrongKey.send(get))).toBe('InvalidAccessKeyId 403');
    const elsewhere = rig.client({ region: 'us-west-2' });
    expect(await refusal(elsewhere.send(get))).toBe('AuthorizationHeaderMalformed 400');
  });

  it.each(['GET', 'PUT', 'DELETE', 'POST', 'OPTIONS'])(
    'is denied without a signature: %s',
    async (method) => {
      const rig = await rigWithObject();
      for (const target of ['/', `/${BUCKET}`, `/${BUCKET}/k`, `/${BUCKET}/none`, '/nowhere/x']) {
        const reply = await send(rig.endpoint, {
          method,
          target,
          ...(method === 'PUT' ? { body: 'x' } : {}),
        });
        expect([reply.status, reply.code]).toEqual([403, 'AccessDenied']);
      }
      expect(await rig.server.objects.get('k')).toEqual(Buffer.from('secret'));
    },
  );

  it.each([
    ['Basic YTpi', 'AuthorizationHeaderMalformed'],
    ['AWS AKIDOWNER:abc', 'AuthorizationHeaderMalformed'],
    ['AWS4-HMAC-SHA256', 'AuthorizationHeaderMalformed'],
    ['AWS4-HMAC-SHA256 nonsense', 'AuthorizationHeaderMalformed'],
    [
      'AWS4-HMAC-SHA256 Credential=AKIDOWNER, SignedHeaders=host, Signature=0',
      'AuthorizationHeaderMalformed',
    ],
    [
      'AWS4-HMAC-SHA256 Credential=a/20260101/x/s3/aws4_request,SignedHeaders=,Signature=',
      'AuthorizationHeaderMalformed',
    ],
  ])('is refused with the authorization %j', async (authorization, code) => {
    const rig = await rigWithObject();
    const { headers, target } = signed(rig.endpoint, { path: `${BUCKET}/k` });
    const reply = await send(rig.endpoint, { target, headers: { ...headers, authorization } });
    expect(reply.code).toBe(code);
    expect(reply.status).toBeLessThan(404);
  });
});

describe('a signed request', () => {
  it('is accepted from the independent signer', async () => {
    const rig = await rigWithObject();
    const reply = await send(
      rig.endpoint,
      signed(rig.endpoint, { path: `${BUCKET}/k`, query: { 'x-id': 'a b+c&' } }),
    );
    expect(reply.body.toString()).toBe('secret');
  });

  it('is refused if it was modified', async () => {
    const rig = await rigWithObject();
    const request = signed(rig.endpoint, {
      path: `${BUCKET}/k`,
      query: { 'x-id': 'b' },
      headers: { range: 'bytes=0-1' },
    });
    const changed = async (change: object) => (await send(rig.endpoint, { ...request, ...change })).code;
    expect(await changed({})).toBeUndefined();
    expect(await changed({ target: `/${BUCKET}/k?x-id=c` })).toBe('SignatureDoesNotMatch');
    expect(await changed({ target: `/${BUCKET}/k?x-id=b&c=d` })).toBe('SignatureDoesNotMatch');
    expect(await changed({ target: `/${BUCKET}/l?x-id=b` })).toBe('SignatureDoesNotMatch');
    expect(await changed({ method: 'DELETE' })).toBe('SignatureDoesNotMatch');
    const header = (name: string, value: string) =>
      changed({ headers: { ...request.headers, [name]: value } });
    expect(await header('range', 'bytes=0-2')).toBe('SignatureDoesNotMatch');
    expect(await header('host', 'elsewhere')).toBe('SignatureDoesNotMatch');
    expect(await header('x-amz-content-sha256', 'UNSIGNED-PAYLOAD')).toBe('SignatureDoesNotMatch');
    expect(await header('x-amz-copy-source', 'other/k')).toBe('AccessDenied');
    expect(await header('x-amz-meta-new', 'x')).toBe('AccessDenied');
  });

  it('stores nothing if its body was modified', async () => {
    const rig = await rigWithObject();
    const before = await rig.tree();
    const request = signed(rig.endpoint, { method: 'PUT', path: `${BUCKET}/k`, body: 'good' });
    const reply = await send(rig.endpoint, { ...request, body: 'evil' });
    expect([reply.status, reply.code]).toEqual([400, 'XAmzContentSHA256Mismatch']);
    expect(await rig.server.objects.get('k')).toEqual(Buffer.from('secret'));
    expect(await rig.tree()).toEqual(before);
  });

  it('is valid for 15 minutes of the server’s time', async () => {
    const now = Date.UTC(2027, 1, 1);
    const rig = await rigWithObject({ now: () => now });
    const at = async (offset: number) =>
      (await send(rig.endpoint, signed(rig.endpoint, { path: `${BUCKET}/k`, at: new Date(now + offset) })))
        .code;
    expect(await at(-900_000)).toBeUndefined();
    expect(await at(900_000)).toBeUndefined();
    expect(await at(-901_000)).toBe('RequestTimeTooSkewed');
    expect(await at(901_000)).toBe('RequestTimeTooSkewed');
  });

  it('succeeds for a client with a wrong clock once the client has read the server’s time', async () => {
    const rig = await rigWithObject({ now: () => Date.now() + 5 * 3_600_000 });
    expect(await refusal(rig.client().send(get))).toBe('RequestTimeTooSkewed 403');
    const reply = await rig.client({ maxAttempts: 2 }).send(get);
    expect(reply.$metadata.attempts).toBe(2);
  });

  it('is refused for another service or another day', async () => {
    const rig = await rigWithObject();
    const code = async (who: Partial<Who>) =>
      (await send(rig.endpoint, signed(rig.endpoint, { path: `${BUCKET}/k`, who }))).code;
    expect(await code({ service: 'ec2' })).toBe('AuthorizationHeaderMalformed');
    expect(await code({ region: 'us-east-1' })).toBe('AuthorizationHeaderMalformed');
    const request = signed(rig.endpoint, { path: `${BUCKET}/k` });
    const today = request.at.toISOString().slice(0, 10).replaceAll('-', '');
    const authorization = (request.headers?.authorization ?? '').replace(today, '20200101');
    const reply = await send(rig.endpoint, { ...request, headers: { ...request.headers, authorization } });
    expect(reply.code).toBe('AuthorizationHeaderMalformed');
  });
});

describe('a presigned request', () => {
  const now = Date.UTC(2027, 1, 1);
  const presigned = (
    rig: Rig,
    options: { method?: string; at?: number; expires?: number | string; path?: string } = {},
  ) =>
    presign(
      {
        method: options.method ?? 'GET',
        path: options.path ?? `${BUCKET}/été k`,
        query: { 'response-content-type': 'text/a b' },
        headers: { host: new URL(rig.endpoint).host },
        at: new Date(options.at ?? now),
      },
      witness,
      options.expires ?? 60,
    );
  const start = async () => {
    const rig = await startRig({ now: () => now });
    await rig.server.objects.put('été k', Buffer.from('secret'), 'text/plain');
    return rig;
  };

  it('reads and writes without any header', async () => {
    const rig = await start();
    const got = await send(rig.endpoint, { target: presigned(rig) });
    expect(got.body.toString()).toBe('secret');
    expect(got.headers['content-type']).toBe('text/a b');
    const part = await send(rig.endpoint, { target: presigned(rig), headers: { range: 'bytes=1-2' } });
    expect([part.status, part.body.toString()]).toEqual([206, 'ec']);
    const target = presigned(rig, { method: 'PUT', path: `${BUCKET}/new` });
    expect((await send(rig.endpoint, { method: 'PUT', target, body: 'new' })).status).toBe(200);
    expect(await rig.server.objects.get('new')).toEqual(Buffer.from('new'));
  });

  it('expires on time', async () => {
    const rig = await start();
    const reply = (options: object) => send(rig.endpoint, { target: presigned(rig, options) });
    expect((await reply({ at: now - 60_000 })).status).toBe(200);
    const late = await reply({ at: now - 61_000 });
    expect([late.status, late.code]).toEqual([403, 'AccessDenied']);
    expect(late.body.toString()).toContain('expired');
    expect((await reply({ at: now - 86_400_000, expires: 604_800 })).status).toBe(200);
    expect((await reply({ at: now + 901_000 })).code).toBe('AccessDenied');
    for (const expires of [0, -1, 604_801, '1e3', '', '60 '])
      expect((await reply({ expires })).code).toBe('AuthorizationQueryParametersError');
  });

  it('is refused if it was modified', async () => {
    const rig = await start();
    const target = presigned(rig);
    const code = async (change: (text: string) => string, headers: Record<string, string> = {}) =>
      (await send(rig.endpoint, { target: change(target), headers })).code;
    expect(await code((text) => text.replace('%20k', '%20l'))).toBe('SignatureDoesNotMatch');
    expect(await code((text) => text.replace('Expires=60', 'Expires=61'))).toBe('SignatureDoesNotMatch');
    expect(await code((text) => text.replace('text%2Fa', 'text%2Fb'))).toBe('SignatureDoesNotMatch');
    expect(await code((text) => `${text}&uploads=`)).toBe('SignatureDoesNotMatch');
    expect(await code((text) => text.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBe(
      'SignatureDoesNotMatch',
    );
    expect(await code((text) => text.slice(0, -1))).toBe('SignatureDoesNotMatch');
    expect(await code((text) => text.replace(/&X-Amz-Signature=.*/, ''))).toBe('AccessDenied');
    expect(await code((text) => text.replace('HMAC-SHA256', 'HMAC-SHA1'))).toBe(
      'AuthorizationQueryParametersError',
    );
    expect(await code((text) => text, { 'x-amz-meta-a': 'b' })).toBe('AccessDenied');
    const put = await send(rig.endpoint, { method: 'PUT', target, body: 'x' });
    expect(put.code).toBe('SignatureDoesNotMatch');
  });
});
