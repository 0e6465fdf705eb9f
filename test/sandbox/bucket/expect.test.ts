import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { BUCKET, bytes, type Raw, signed, startRig, type Wanted } from './rig.ts';

/** Sends the headers, and the body only when the server requests it. */
function sendWhenAsked(
  endpoint: string,
  raw: Raw,
): Promise<{ asked: boolean; status: number; code: string }> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    let asked = false;
    const request = httpRequest(
      { hostname, port, method: raw.method, path: raw.target, headers: raw.headers, agent: false },
      (response) => {
        const finish = (body: string) => {
          request.destroy();
          resolve({ asked, status: response.statusCode ?? 0, code: /<Code>(\w+)</.exec(body)?.[1] ?? '' });
        };
        text(response).then(finish, reject);
      },
    );
    request.on('continue', () => {
      asked = true;
      request.end(raw.body);
    });
    request.on('error', reject);
    request.flushHeaders();
  });
}

describe('a client that sends Expect: 100-continue', () => {
  const body = bytes(200_000);
  const put = (endpoint: string, wanted: Partial<Wanted> = {}) =>
    sendWhenAsked(
      endpoint,
      signed(endpoint, {
        ...{ method: 'PUT', path: `${BUCKET}/k`, body, headers: { expect: '100-continue' } },
        ...wanted,
      }),
    );

  it('is asked for its body once its signature is valid', async () => {
    const rig = await startRig();
    expect(await put(rig.endpoint)).toEqual({ asked: true, status: 200, code: '' });
    expect(await rig.server.objects(BUCKET).get('k')).toEqual(body);
  });

  it.each<[string, Partial<Wanted>, number, string]>([
    ['with a wrong secret', { who: { secretAccessKey: 'nope' } }, 403, 'SignatureDoesNotMatch'],
    ['for a missing bucket', { path: 'nowhere/k' }, 404, 'NoSuchBucket'],
    ['for a key that is too long', { path: `${BUCKET}/${'x'.repeat(1_025)}` }, 400, 'KeyTooLongError'],
    ['for a part of a multipart upload', { query: { uploadId: 'a'.repeat(32) } }, 501, 'NotImplemented'],
  ])('is refused instead %s', async (_, wanted, status, code) => {
    const rig = await startRig();
    expect(await put(rig.endpoint, wanted)).toEqual({ asked: false, status, code });
  });
});
