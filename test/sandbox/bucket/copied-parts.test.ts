import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
  type UploadPartCopyCommandInput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { CHECKSUM_ALGORITHMS } from '../../../src/sandbox/bucket/checksums.ts';
import { BUCKET, bytes, reader, refusal, startRig, stranger } from './rig.ts';

const Bucket = BUCKET;
const MIB = 1024 * 1024;
const Source = 'été/from here.pdf';
const CopySource = `${Bucket}/${encodeURIComponent(Source)}`;
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest();

async function begin(client: S3Client, Key: string, options = {}) {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...options }));
  return { Bucket, Key, UploadId };
}

async function content(client: S3Client, Key: string) {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

describe('UploadPartCopy', () => {
  it.each(CHECKSUM_ALGORITHMS)('makes an object of parts of another, with %s', async (ChecksumAlgorithm) => {
    const rig = await startRig();
    const client = rig.client();
    const source = bytes(6 * MIB);
    await client.send(new PutObjectCommand({ Bucket, Key: Source, Body: source }));
    const upload = await begin(client, 'copy', { ChecksumAlgorithm });
    const pieces = [source.subarray(0, 5 * MIB), source.subarray(5 * MIB)];
    const ranges = [`bytes=0-${5 * MIB - 1}`, `bytes=${5 * MIB}-${6 * MIB - 1}`];
    const Parts = [];
    for (const [at, CopySourceRange] of ranges.entries()) {
      const { CopyPartResult } = await client.send(
        new UploadPartCopyCommand({ ...upload, PartNumber: at + 1, CopySource, CopySourceRange }),
      );
      expect(CopyPartResult?.ETag).toBe(`"${md5(pieces[at] ?? bytes(1)).toString('hex')}"`);
      expect(CopyPartResult?.LastModified).toBeInstanceOf(Date);
      Parts.push({ PartNumber: at + 1, ...CopyPartResult });
    }
    const done = await client.send(
      new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }),
    );
    expect(done.ETag).toBe(`"${md5(Buffer.concat(pieces.map(md5))).toString('hex')}-2"`);
    expect((await content(client, 'copy')).equals(source)).toBe(true);
  });

  it('copies a whole object beside parts that were sent', async () => {
    const rig = await startRig();
    const client = rig.client();
    const [sent, source] = [bytes(5 * MIB), bytes(17)];
    await client.send(new PutObjectCommand({ Bucket, Key: Source, Body: source }));
    const upload = await begin(client, 'both', { ChecksumAlgorithm: 'CRC32' });
    const one = await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: sent }));
    const two = await client.send(new UploadPartCopyCommand({ ...upload, PartNumber: 2, CopySource }));
    const Parts = [
      { PartNumber: 1, ETag: one.ETag, ChecksumCRC32: one.ChecksumCRC32 },
      { PartNumber: 2, ...two.CopyPartResult },
    ];
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    expect((await content(client, 'both')).equals(Buffer.concat([sent, source]))).toBe(true);
  });

  it('refuses what cannot be copied, and who may not', async () => {
    const rig = await startRig();
    const client = rig.client();
    const source = await client.send(new PutObjectCommand({ Bucket, Key: Source, Body: bytes(100) }));
    const upload = await begin(client, 'copy');
    const copy = (options: Partial<UploadPartCopyCommandInput>, as = client) =>
      refusal(as.send(new UploadPartCopyCommand({ ...upload, PartNumber: 1, CopySource, ...options })));
    expect(await copy({ CopySourceRange: 'bytes=0-99' })).toBe('none');
    for (const CopySourceRange of [
      'bytes=0-100',
      'bytes=100-100',
      'bytes=5-4',
      'bytes=5-',
      'bytes=-5',
      '0-9',
    ])
      expect([CopySourceRange, await copy({ CopySourceRange })]).toEqual([
        CopySourceRange,
        'InvalidArgument 400',
      ]);
    expect(await copy({ PartNumber: 0 })).toBe('InvalidArgument 400');
    expect(await copy({ PartNumber: 10_001 })).toBe('InvalidArgument 400');
    expect(await copy({ UploadId: 'f'.repeat(32) })).toBe('NoSuchUpload 404');
    expect(await copy({ CopySource: `${Bucket}/none` })).toBe('NoSuchKey 404');
    expect(await copy({ CopySourceIfMatch: '"x"' })).toBe('PreconditionFailed 412');
    expect(await copy({ CopySourceIfNoneMatch: source.ETag })).toBe('PreconditionFailed 412');
    expect(await copy({ CopySourceIfMatch: source.ETag })).toBe('none');
    expect(await copy({}, rig.client({ credentials: reader }))).toBe('AccessDenied 403');
    const foreign = rig.client({ credentials: stranger });
    const { UploadId } = await foreign.send(new CreateMultipartUploadCommand({ Bucket: 'other', Key: 'k' }));
    expect(await copy({ Bucket: 'other', Key: 'k', UploadId }, foreign)).toBe('AccessDenied 403');
  });
});

describe('ListMultipartUploads', () => {
  const list = (client: S3Client, options = {}) =>
    client.send(new ListMultipartUploadsCommand({ Bucket, ...options }));
  const keys = ({ Uploads = [] }: ListMultipartUploadsCommandOutput) => Uploads.map(({ Key }) => Key);

  it('names the uploads that are open, by key and then by age, until they are ended', async () => {
    const at = { now: Date.parse('2026-03-01T09:30:00Z') };
    const rig = await startRig({ now: () => at.now });
    const client = rig.client({ systemClockOffset: at.now - Date.now() });
    const second = await begin(client, 'b', { ChecksumAlgorithm: 'SHA256' });
    const first = await begin(client, 'a é');
    at.now += 1_000;
    const third = await begin(client, 'b');
    await begin(client, 'gone').then((upload) => client.send(new AbortMultipartUploadCommand(upload)));
    await rig.restart();
    const again = rig.client({ systemClockOffset: at.now - Date.now() });
    const listed = await list(again);
    expect(listed.Uploads?.map(({ UploadId }) => UploadId)).toEqual(
      [first, second, third].map(({ UploadId }) => UploadId),
    );
    expect(keys(listed)).toEqual(['a é', 'b', 'b']);
    expect(listed.Uploads?.[1]).toMatchObject({
      Initiated: new Date('2026-03-01T09:30:00Z'),
      ChecksumAlgorithm: 'SHA256',
      ChecksumType: 'COMPOSITE',
    });
    expect(listed.Uploads?.[2]?.Initiated).toEqual(new Date('2026-03-01T09:30:01Z'));
    expect(listed).toMatchObject({ Bucket, IsTruncated: false, MaxUploads: 1_000 });
  });

  it('pages, also between uploads of one key, and groups by prefix and delimiter', async () => {
    const rig = await startRig();
    const client = rig.client();
    for (const key of ['a', 'b', 'b', 'b', 'folder/1', 'folder/2', 'folder/x/3', 'z'])
      await begin(client, key);
    const found: unknown[] = [];
    let page: ListMultipartUploadsCommandOutput | undefined;
    do {
      page = await list(client, {
        MaxUploads: 3,
        KeyMarker: page?.NextKeyMarker,
        UploadIdMarker: page?.NextUploadIdMarker,
      });
      expect(page.Uploads?.length).toBeLessThanOrEqual(3);
      found.push(...(page.Uploads ?? []).map(({ UploadId }) => UploadId));
    } while (page.IsTruncated);
    expect(found).toEqual((await list(client)).Uploads?.map(({ UploadId }) => UploadId));
    expect(keys(await list(client, { Prefix: 'folder/' }))).toEqual(['folder/1', 'folder/2', 'folder/x/3']);
    expect(keys(await list(client, { KeyMarker: 'b' }))).toEqual(['folder/1', 'folder/2', 'folder/x/3', 'z']);
    const top = await list(client, { Delimiter: '/' });
    expect([keys(top), top.CommonPrefixes]).toEqual([['a', 'b', 'b', 'b', 'z'], [{ Prefix: 'folder/' }]]);
    const start = await list(client, { Delimiter: '/', MaxUploads: 5 });
    expect([keys(start).length, start.CommonPrefixes?.length, start.IsTruncated]).toEqual([4, 1, true]);
    const rest = await list(client, {
      Delimiter: '/',
      KeyMarker: start.NextKeyMarker,
      UploadIdMarker: start.NextUploadIdMarker,
    });
    expect([keys(rest), rest.CommonPrefixes]).toEqual([['z'], undefined]);
    const encoded = await list(client, { EncodingType: 'url', Prefix: 'folder/x' });
    expect(keys(encoded)).toEqual(['folder/x/3']);
    expect(await refusal(list(client, { Bucket: 'nowhere' }))).toBe('NoSuchBucket 404');
    expect((await list(client, { Bucket: 'other' })).Uploads).toBeUndefined();
  });
});
