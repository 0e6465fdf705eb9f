import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKET, type Rig, send, signed, startRig } from './rig.ts';

/** Sends raw bytes and returns the complete response. */
async function raw(rig: Rig, data: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(rig.endpoint);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.end(data);
  return text(socket).catch(() => '');
}

async function isAlive(rig: Rig): Promise<void> {
  expect((await send(rig.endpoint, signed(rig.endpoint, { method: 'HEAD', path: BUCKET }))).status).toBe(200);
}

describe('an invalid request', () => {
  it.each([
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n',
    `GET /${'x'.repeat(30_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    'PUT /documents/k HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcde',
    'PUT /documents/k HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'GET / HTTP/1.1\r\nhost: x\r\nexpect: something\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\nauthorization: a\r\nauthorization: b\r\n\r\n',
    'GET http://[::1 HTTP/1.1\r\nhost: x\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
  ])('is refused, and the server keeps running: %j', async (data) => {
    const rig = await startRig();
    const reply = await raw(rig, Buffer.from(data, 'latin1'));
    expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
    await isAlive(rig);
  });

  it('does no harm if it consists of random bytes', { tags: ['full'] }, async () => {
    const rig = await startRig();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (data) => {
        await raw(rig, data);
      }),
      { numRuns: 60 },
    );
    await isAlive(rig);
  });

  it('gets a normal error with a valid signature, never a 500', {
    tags: ['full'],
  }, async () => {
    const rig = await startRig();
    await rig.server.objects.put('k', Buffer.from('body'), 'text/plain');
    const word = fc.oneof(
      fc.constantFrom('', '*', '0', '-1', '1e9', 'constructor', '__proto__', 'aws-chunked', '"'),
      fc.stringMatching(/^[!-~]{1,12}$/),
    );
    const name = fc.constantFrom(
      ...['uploads', 'uploadId', 'partNumber', 'delete', 'location', 'list-type', 'max-keys', 'prefix'],
      ...[
        'continuation-token',
        'delimiter',
        'encoding-type',
        'start-after',
        'max-parts',
        'part-number-marker',
      ],
      ...['response-content-type', 'response-expires', 'constructor', '__proto__', 'acl', 'versionId'],
    );
    const header = fc.constantFrom(
      ...['range', 'if-match', 'if-none-match', 'if-modified-since', 'x-amz-copy-source', 'content-md5'],
      ...['x-amz-checksum-crc32', 'x-amz-checksum-mode', 'x-amz-trailer', 'x-amz-decoded-content-length'],
      ...['x-amz-meta-__proto__', 'x-amz-metadata-directive', 'x-amz-checksum-algorithm', 'content-encoding'],
    );
    const payload = fc.constantFrom(
      ...[undefined, 'UNSIGNED-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'],
      ...['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'toString'],
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH'),
        fc.constantFrom(
          '',
          BUCKET,
          `${BUCKET}/`,
          `${BUCKET}/k`,
          `${BUCKET}/new`,
          'nowhere',
          '__proto__/k',
          '//',
        ),
        fc.dictionary(name, word, { maxKeys: 3, noNullPrototype: true }),
        fc.dictionary(header, word, { maxKeys: 3, noNullPrototype: true }),
        fc.constantFrom('', 'body', '<Delete><Object/></Delete>', '0\r\n\r\n', '<CompleteMultipartUpload/>'),
        payload,
        async (method, path, query, headers, body, signedAs) => {
          const hasBody = method === 'PUT' || method === 'POST';
          const request = signed(rig.endpoint, {
            method,
            path,
            query,
            headers,
            body: hasBody ? body : '',
            ...(signedAs === undefined ? {} : { payload: signedAs }),
          });
          const reply = await send(rig.endpoint, request);
          expect(reply.headers['x-amz-request-id']).toBeDefined();
          // Only the chunks of the body, which were not signed here, may be refused.
          if (!signedAs?.startsWith('STREAMING-AWS4')) expect(reply.code).not.toBe('SignatureDoesNotMatch');
          expect(reply.status === 501 || reply.status < 500).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
    await isAlive(rig);
  });
});
