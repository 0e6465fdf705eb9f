import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { BUCKET, bytes, owner, refusal, send, signed, startRig, type Wanted } from './rig.ts';

const Bucket = BUCKET;
const path = `${BUCKET}/k`;
const content = async (client: S3Client, Key = 'k') => {
  const reply = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await reply.Body?.transformToByteArray()) ?? []);
};

describe('a streamed upload', () => {
  it('is stored without its framing when the SDK sends it', async () => {
    const rig = await startRig();
    const client = rig.client();
    const body = bytes(3_145_745);
    const file = join(rig.outside, 'file');
    await writeFile(file, body);
    const stored = await client.send(
      new PutObjectCommand({ Bucket, Key: 'k', Body: createReadStream(file), ContentEncoding: 'gzip' }),
    );
    expect(stored.ETag).toBe(`"${createHash('md5').update(body).digest('hex')}"`);
    expect((await content(client)).equals(body)).toBe(true);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'k' }));
    expect(head.ContentEncoding).toBe('gzip');
    expect(head.ContentLength).toBe(body.length);
  });

  const STREAMED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
  const unsigned = (body: string): Wanted => ({
    method: 'PUT',
    path,
    body,
    payload: STREAMED,
    headers: { 'x-amz-decoded-content-length': '9', 'content-encoding': 'aws-chunked' },
  });

  it.each([
    ['5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n', undefined],
    ['9\r\n123456789\r\n0\r\n', undefined],
    ['9\r\n123456789\r\n', 'IncompleteBody'],
    ['9\r\n12345', 'IncompleteBody'],
    ['8\r\n12345678\r\n0\r\n\r\n', 'IncompleteBody'],
    ['a\r\n1234567890\r\n0\r\n\r\n', 'IncompleteBody'],
    ['9\r\n123456789XX0\r\n\r\n', 'IncompleteBody'],
    ['-1\r\n123456789\r\n0\r\n\r\n', 'IncompleteBody'],
    ['ffffffffff\r\n123456789\r\n0\r\n\r\n', 'IncompleteBody'],
    ['x'.repeat(20_000), 'IncompleteBody'],
    ['', 'IncompleteBody'],
  ])('ends with the expected result for %j: %s', async (body, code) => {
    const rig = await startRig();
    const before = await rig.tree();
    const reply = await send(rig.endpoint, signed(rig.endpoint, unsigned(body)));
    expect(reply.code).toBe(code);
    const stored = await rig.server.objects.get('k');
    expect(stored === null ? undefined : Buffer.from(stored).toString()).toBe(
      code === undefined ? '123456789' : undefined,
    );
    if (code !== undefined) expect(await rig.tree()).toEqual(before);
  });

  it('is stored without the signatures of its chunks', async () => {
    const rig = await startRig();
    const chunks = [bytes(65_536), bytes(70_000), bytes(10)];
    const body = Buffer.concat([
      ...chunks.flatMap((chunk) => [
        Buffer.from(`${chunk.length.toString(16)};chunk-signature=${'0'.repeat(64)}\r\n`),
        chunk,
        Buffer.from('\r\n'),
      ]),
      Buffer.from(`0;chunk-signature=${'0'.repeat(64)}\r\n\r\n`),
    ]);
    const request = signed(rig.endpoint, {
      method: 'PUT',
      path,
      body,
      payload: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      headers: { 'x-amz-decoded-content-length': '135546' },
    });
    expect((await send(rig.endpoint, request)).status).toBe(200);
    expect(Buffer.concat(chunks).equals((await rig.server.objects.get('k')) ?? Buffer.alloc(0))).toBe(true);
  });
});

describe('an upload', () => {
  it('needs a length within the limit', async () => {
    const rig = await startRig();
    const put = async (wanted: Partial<Wanted>) =>
      (await send(rig.endpoint, signed(rig.endpoint, { method: 'PUT', path, ...wanted }))).code;
    expect(await put({ headers: { 'transfer-encoding': 'chunked' }, payload: 'UNSIGNED-PAYLOAD' })).toBe(
      'MissingContentLength',
    );
    const streamed = { payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', body: '0\r\n\r\n' };
    expect(await put(streamed)).toBe('MissingContentLength');
    const large = String(5 * 1024 ** 3 + 1);
    expect(await put({ ...streamed, headers: { 'x-amz-decoded-content-length': large } })).toBe(
      'EntityTooLarge',
    );
    expect(await put({ payload: 'nonsense', body: 'x' })).toBe('InvalidArgument');
    expect(await put({ payload: 'constructor', body: 'x' })).toBe('InvalidArgument');
  });

  it('is refused while its body is still being sent', async () => {
    const rig = await startRig();
    const body = bytes(6_000_000);
    const wrong = { secretAccessKey: 'nope' };
    const reply = await send(rig.endpoint, signed(rig.endpoint, { method: 'PUT', path, body, who: wrong }));
    expect([reply.status, reply.code]).toEqual([403, 'SignatureDoesNotMatch']);
    const malformed = { body, payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
    const headers = { 'x-amz-decoded-content-length': '6000000' };
    const stopped = signed(rig.endpoint, { method: 'PUT', path, ...malformed, headers });
    expect((await send(rig.endpoint, stopped)).code).toBe('IncompleteBody');
    const sdk = rig.client({ credentials: { ...owner, secretAccessKey: 'nope' } });
    const put = new PutObjectCommand({ Bucket, Key: 'k', Body: body });
    expect(await refusal(sdk.send(put))).toBe('SignatureDoesNotMatch 403');
  });
});
