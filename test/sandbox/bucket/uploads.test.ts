import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { CHECKSUM_ALGORITHMS } from '../../../src/sandbox/bucket/checksums.ts';
import { BUCKET, bytes, owner, REGION, refusal, send, signed, startRig, type Wanted } from './rig.ts';
import { signChunks } from './witness.ts';

const Bucket = BUCKET;
const path = `${BUCKET}/k`;
const digest = (algorithm: string, data: Uint8Array | string) =>
  createHash(algorithm).update(data).digest('base64');
const content = async (client: S3Client, Key = 'k') => {
  const reply = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await reply.Body?.transformToByteArray()) ?? []);
};

describe('a checksum', () => {
  it.each(CHECKSUM_ALGORITHMS)(
    'is verified, stored, and used by the SDK when it downloads: %s',
    async (algorithm) => {
      const rig = await startRig();
      const client = rig.client();
      const body = bytes(10_000);
      await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: body, ChecksumAlgorithm: algorithm }));
      const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'k', ChecksumMode: 'ENABLED' }));
      const kept = Object.keys(head).filter((name) => name.startsWith('Checksum') && name !== 'ChecksumType');
      expect(kept).toEqual([`Checksum${algorithm}`]);
      expect(await content(client)).toEqual(body);
    },
  );

  it('rejects the upload if it is wrong', async () => {
    const rig = await startRig();
    const client = rig.client();
    const put = (wrong: Partial<PutObjectCommandInput>) =>
      refusal(client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'body', ...wrong })));
    expect(await put({ ChecksumCRC32: 'AAAAAA==' })).toBe('BadDigest 400');
    expect(await put({ ChecksumCRC32C: 'AAAAAA==' })).toBe('BadDigest 400');
    expect(await put({ ChecksumCRC64NVME: 'AAAAAAAAAAA=' })).toBe('BadDigest 400');
    expect(await put({ ChecksumSHA1: digest('sha1', 'other') })).toBe('BadDigest 400');
    expect(await put({ ChecksumSHA256: digest('sha256', 'other') })).toBe('BadDigest 400');
    expect(await put({ ContentMD5: digest('md5', 'other') })).toBe('BadDigest 400');
    expect(await put({ ContentMD5: 'nonsense' })).toBe('InvalidDigest 400');
    expect(await put({ ChecksumCRC32: 'nonsense' })).toBe('InvalidRequest 400');
    expect(await put({ ContentMD5: digest('md5', 'body') })).toBe('none');
  });

  it('must be a single one of a supported kind', async () => {
    const rig = await startRig();
    const put = async (headers: Record<string, string>) =>
      (await send(rig.endpoint, signed(rig.endpoint, { method: 'PUT', path, body: 'x', headers }))).code;
    const two = { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' };
    expect(await put(two)).toBe('InvalidRequest');
    expect(await put({ 'x-amz-checksum-rot13': 'AAAAAA==' })).toBe('NotImplemented');
  });
});

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
    expect(stored.ChecksumCRC32).toBeDefined();
    expect((await content(client)).equals(body)).toBe(true);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'k' }));
    expect(head.ContentEncoding).toBe('gzip');
    expect(head.ContentLength).toBe(body.length);
  });

  const STREAMED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
  const unsigned = (body: string, more: Record<string, string> = {}): Wanted => ({
    ...{ method: 'PUT', path, body, payload: STREAMED },
    headers: { 'x-amz-decoded-content-length': '9', 'content-encoding': 'aws-chunked', ...more },
  });
  const crc = { 'x-amz-trailer': 'x-amz-checksum-crc32' };

  it.each([
    ['5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n', crc, undefined],
    ['9\r\n123456789\r\n0\r\n\r\n', {}, undefined],
    ['9\r\n123456789\r\n0\r\n', {}, undefined],
    ['9\r\n123456789\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n', crc, 'BadDigest'],
    ['9\r\n123456789\r\n0\r\n\r\n', crc, 'MalformedTrailerError'],
    ['9\r\n123456789\r\n0\r\nnonsense\r\n\r\n', {}, 'MalformedTrailerError'],
    ['9\r\n123456789\r\n', {}, 'IncompleteBody'],
    ['9\r\n12345', {}, 'IncompleteBody'],
    ['8\r\n12345678\r\n0\r\n\r\n', {}, 'IncompleteBody'],
    ['a\r\n1234567890\r\n0\r\n\r\n', {}, 'IncompleteBody'],
    ['9\r\n123456789XX0\r\n\r\n', {}, 'IncompleteBody'],
    ['-1\r\n123456789\r\n0\r\n\r\n', {}, 'IncompleteBody'],
    ['ffffffffff\r\n123456789\r\n0\r\n\r\n', {}, 'IncompleteBody'],
    ['x'.repeat(20_000), {}, 'IncompleteBody'],
    ['', {}, 'IncompleteBody'],
  ])('ends with the expected result for %j %j: %s', async (body, headers, code) => {
    const rig = await startRig();
    const before = await rig.tree();
    const reply = await send(rig.endpoint, signed(rig.endpoint, unsigned(body, headers)));
    expect(reply.code).toBe(code);
    const stored = await rig.server.objects(BUCKET).get('k');
    expect(stored?.toString()).toBe(code === undefined ? '123456789' : undefined);
    if (code !== undefined) expect(await rig.tree()).toEqual(before);
  });

  const at = new Date();
  const who = { ...owner, region: REGION, service: 's3' };
  /** With the payload in signed chunks; the seed is known only once the headers are signed. */
  function inSignedChunks(endpoint: string, chunks: Buffer[], trailer?: string) {
    const length = Buffer.concat(chunks).length;
    const announced: Record<string, string> = trailer === undefined ? {} : crc;
    const request = signed(endpoint, {
      ...{ method: 'PUT', path, at },
      payload: `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${trailer === undefined ? '' : '-TRAILER'}`,
      headers: { 'x-amz-decoded-content-length': String(length), ...announced },
    });
    return { ...request, body: signChunks(chunks, request.signature, at, who, trailer) };
  }

  it('is accepted in signed chunks', async () => {
    const rig = await startRig();
    const chunks = [bytes(65_536), bytes(70_000), bytes(10)];
    const reply = await send(rig.endpoint, inSignedChunks(rig.endpoint, chunks));
    expect(reply.status).toBe(200);
    const stored = await rig.server.objects(BUCKET).get('k');
    expect(Buffer.concat(chunks).equals(stored ?? Buffer.alloc(0))).toBe(true);
    const trailer = 'x-amz-checksum-crc32:y/Q5Jg==';
    const nine = inSignedChunks(rig.endpoint, [Buffer.from('12345'), Buffer.from('6789')], trailer);
    expect((await send(rig.endpoint, nine)).headers['x-amz-checksum-crc32']).toBe('y/Q5Jg==');
    expect((await rig.server.objects(BUCKET).get('k'))?.toString()).toBe('123456789');
  });

  it('is refused if a signed chunk was changed, removed, or moved', async () => {
    const rig = await startRig();
    const trailer = 'x-amz-checksum-crc32:y/Q5Jg==';
    const good = inSignedChunks(rig.endpoint, [Buffer.from('12345'), Buffer.from('6789')], trailer);
    const text = good.body.toString();
    const [first = '', second = ''] = text.match(/\d;chunk-signature=\w+\r\n\d+\r\n/g) ?? [];
    const changes = [
      text.replace('12345', '12354'),
      text.replace(first, ''),
      text.replace(first + second, second + first),
      text.replace(/;chunk-signature=\w+/, ''),
      text.replace('y/Q5Jg==', 'y/Q5Jw=='),
      text.replace(/x-amz-trailer-signature:.*/, 'x-amz-trailer-signature:0'),
    ];
    for (const body of changes)
      expect((await send(rig.endpoint, { ...good, body })).code).toBe('SignatureDoesNotMatch');
    expect(await rig.server.objects(BUCKET).get('k')).toBeNull();
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
    expect(await put({ body: 'x', headers: { 'x-amz-meta-a': 'x'.repeat(2_048) } })).toBe('MetadataTooLarge');
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
