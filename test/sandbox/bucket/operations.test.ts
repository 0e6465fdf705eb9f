import { createHash } from 'node:crypto';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { BUCKET, bytes, REGION, refusal, send, signed, startRig } from './rig.ts';

const Bucket = BUCKET;
const put = (client: S3Client, Key: string, Body: string | Uint8Array = Key) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body }));
const body = async (client: S3Client, Key: string, options: object = {}) => {
  const reply = await client.send(new GetObjectCommand({ Bucket, Key, ...options }));
  return Buffer.from((await reply.Body?.transformToByteArray()) ?? []).toString();
};
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest('hex');

describe('objects', () => {
  it('are returned as they were stored: bytes, type, metadata, headers, ETag, and checksum', async () => {
    const now = Date.UTC(2026, 4, 6, 7, 8, 9, 10);
    const rig = await startRig({ now: () => now });
    const client = rig.client({ systemClockOffset: now - Date.now() });
    const content = bytes(70_000);
    const facts = {
      ContentType: 'application/pdf',
      Metadata: { envelope: 'env_1', note: 'a  b' },
      CacheControl: 'no-store',
      ContentDisposition: 'attachment; filename="x.pdf"',
      ContentLanguage: 'fr',
    };
    const stored = await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: content, ...facts }));
    expect(stored.ETag).toBe(`"${md5(content)}"`);
    expect(stored.ChecksumCRC64NVME).toMatch(/^.{12}$/);

    const expected = {
      ...facts,
      ETag: `"${md5(content)}"`,
      ContentLength: 70_000,
      LastModified: new Date('2026-05-06T07:08:09Z'),
      ChecksumCRC64NVME: stored.ChecksumCRC64NVME,
      ChecksumType: 'FULL_OBJECT',
      AcceptRanges: 'bytes',
    };
    const got = await client.send(new GetObjectCommand({ Bucket, Key: 'k', ChecksumMode: 'ENABLED' }));
    expect(got).toMatchObject(expected);
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? [])).toEqual(content);
    expect(
      await client.send(new HeadObjectCommand({ Bucket, Key: 'k', ChecksumMode: 'ENABLED' })),
    ).toMatchObject(expected);
    expect(await client.send(new HeadObjectCommand({ Bucket, Key: 'k' }))).not.toHaveProperty(
      'ChecksumCRC64NVME',
    );
  });

  it('can be empty, and overwritten', async () => {
    const rig = await startRig();
    const client = rig.client();
    await put(client, 'k', 'first');
    await put(client, 'k', new Uint8Array());
    expect(await body(client, 'k')).toBe('');
    expect(await refusal(body(client, 'k', { Range: 'bytes=0-' }))).toBe('InvalidRange 416');
  });

  it('are the same through the service’s internal interface', async () => {
    const rig = await startRig();
    const objects = rig.server.objects;
    await objects.put('esign/x.pdf', Buffer.from('%PDF-1.7'), 'application/pdf');
    const got = await rig
      .client()
      .send(new GetObjectCommand({ Bucket, Key: 'esign/x.pdf', ChecksumMode: 'ENABLED' }));
    expect(got.ContentType).toBe('application/pdf');
    expect(got.ChecksumCRC64NVME).toBeDefined();
    expect(await got.Body?.transformToString()).toBe('%PDF-1.7');
    expect(await objects.get('esign/x.pdf')).toEqual(Buffer.from('%PDF-1.7'));
    expect(await objects.get('esign/y.pdf')).toBeNull();
  });

  it.each([
    ['bytes=100-199', [100, 200]],
    ['bytes=9990-', [9_990, 10_000]],
    ['bytes=-5', [9_995, 10_000]],
    ['bytes=-99999', [0, 10_000]],
    ['bytes=9999-99999', [9_999, 10_000]],
  ])('return the range %s', async (Range, [start = 0, end = 0]) => {
    const rig = await startRig();
    const client = rig.client();
    const content = bytes(10_000);
    await put(client, 'k', content);
    const reply = await client.send(new GetObjectCommand({ Bucket, Key: 'k', Range }));
    expect(reply.$metadata.httpStatusCode).toBe(206);
    expect(reply.ContentRange).toBe(`bytes ${start}-${end - 1}/10000`);
    expect(reply.ContentLength).toBe(end - start);
    expect(Buffer.from((await reply.Body?.transformToByteArray()) ?? [])).toEqual(
      content.subarray(start, end),
    );
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'k', Range }));
    expect(head.ContentLength).toBe(end - start);
  });

  it('refuse a range beyond their end, and report their length', async () => {
    const rig = await startRig();
    await put(rig.client(), 'k', 'four');
    const reply = await send(
      rig.endpoint,
      signed(rig.endpoint, { path: `${Bucket}/k`, headers: { range: 'bytes=4-' } }),
    );
    expect(reply.status).toBe(416);
    expect(reply.code).toBe('InvalidRange');
    expect(reply.headers['content-range']).toBe('bytes */4');
  });

  it('evaluate If-Match before the range, so that a resumed download never mixes two versions', async () => {
    const rig = await startRig();
    const client = rig.client();
    const first = await put(client, 'k', 'first version');
    await put(client, 'k', '2nd');
    const resumed = (Range: string) => refusal(body(client, 'k', { Range, IfMatch: first.ETag }));
    expect(await resumed('bytes=1-')).toBe('PreconditionFailed 412');
    expect(await resumed('bytes=5-')).toBe('PreconditionFailed 412');
  });

  it('support conditional requests', async () => {
    const now = Date.UTC(2026, 4, 6, 7, 8, 9, 500);
    const rig = await startRig({ now: () => now });
    const client = rig.client({ systemClockOffset: now - Date.now() });
    const { ETag } = await put(client, 'k', 'body');
    const outcome = (conditions: object) => refusal(body(client, 'k', conditions));
    expect(await outcome({ IfMatch: ETag })).toBe('none');
    expect(await outcome({ IfMatch: '"other"' })).toBe('PreconditionFailed 412');
    expect(await outcome({ IfNoneMatch: ETag })).toMatch(/ 304$/);
    expect(await outcome({ IfNoneMatch: '*' })).toMatch(/ 304$/);
    expect(await outcome({ IfNoneMatch: '"other"' })).toBe('none');
  });

  it('return the headers that a signed query requests, unless they would break the response', async () => {
    const rig = await startRig();
    const client = rig.client();
    await put(client, 'k');
    const reply = await client.send(
      new GetObjectCommand({
        Bucket,
        Key: 'k',
        ResponseContentType: 'text/x',
        ResponseCacheControl: 'max-age=1',
        ...{
          ResponseContentDisposition: 'inline',
          ResponseContentLanguage: 'fr',
          ResponseContentEncoding: 'x',
        },
      }),
    );
    expect(reply).toMatchObject({ ContentType: 'text/x', CacheControl: 'max-age=1', ContentLanguage: 'fr' });
    expect(reply).toMatchObject({ ContentDisposition: 'inline', ContentEncoding: 'x' });
    const split = body(client, 'k', { ResponseContentType: 'a\r\nset-cookie: b' });
    expect(await refusal(split)).toBe('InvalidArgument 400');
  });

  it('are deleted, and a second deletion does no harm', async () => {
    const rig = await startRig();
    const client = rig.client();
    for (const key of ['a', 'b & <c>']) await put(client, key);
    for (let time = 0; time < 2; time++) await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    expect(await refusal(body(client, 'a'))).toBe('NoSuchKey 404');
    const left = await client.send(new ListObjectsV2Command({ Bucket }));
    expect(left.Contents?.map(({ Key }) => Key)).toEqual(['b & <c>']);
  });
});

describe('buckets', () => {
  it('are listed and found', async () => {
    const rig = await startRig();
    const client = rig.client();
    const { Buckets } = await client.send(new ListBucketsCommand());
    expect(Buckets?.map(({ Name }) => Name)).toEqual([BUCKET]);
    expect(Date.now() - (Buckets?.[0]?.CreationDate?.getTime() ?? 0)).toBeLessThan(600_000);
    const head = await client.send(new HeadBucketCommand({ Bucket }));
    expect(head.BucketRegion).toBe(REGION);
  });

  it("are reported by every operation if they don't exist", async () => {
    const rig = await startRig();
    const client = rig.client();
    const at = { Bucket: 'nowhere', Key: 'k' };
    expect(await refusal(client.send(new GetObjectCommand(at)))).toBe('NoSuchBucket 404');
    expect(await refusal(client.send(new PutObjectCommand({ ...at, Body: 'x' })))).toBe('NoSuchBucket 404');
    expect(await refusal(client.send(new DeleteObjectCommand(at)))).toBe('NoSuchBucket 404');
    expect(await refusal(client.send(new ListObjectsV2Command(at)))).toBe('NoSuchBucket 404');
    expect(await refusal(client.send(new HeadBucketCommand(at)))).toBe('NotFound 404');
    expect(await refusal(client.send(new HeadObjectCommand(at)))).toBe('NotFound 404');
    expect(await refusal(client.send(new HeadObjectCommand({ ...at, Bucket })))).toBe('NotFound 404');
  });

  it('are listed in pages, by prefix, by delimiter, and after a key', async () => {
    const rig = await startRig();
    const client = rig.client();
    const keys = ['a', 'a/1', 'a/2', 'a/b/3', 'b', 'c/1', 'c/2', 'd'];
    for (const key of keys) await put(client, key);
    const list = (options: object) => client.send(new ListObjectsV2Command({ Bucket, ...options }));
    const names = ({ Contents = [], CommonPrefixes = [] }: Awaited<ReturnType<typeof list>>) => [
      ...Contents.map(({ Key }) => Key),
      ...CommonPrefixes.map(({ Prefix }) => `${Prefix}*`),
    ];
    for (const Delimiter of [undefined, '/']) {
      for (let MaxKeys = 1; MaxKeys <= 9; MaxKeys++) {
        const seen: unknown[] = [];
        let ContinuationToken: string | undefined;
        do {
          const page = await list({ MaxKeys, Delimiter, ContinuationToken });
          expect(page.KeyCount).toBe(names(page).length);
          expect(page.KeyCount).toBeLessThanOrEqual(MaxKeys);
          seen.push(...names(page));
          ContinuationToken = page.NextContinuationToken;
          expect(page.IsTruncated).toBe(ContinuationToken !== undefined);
        } while (ContinuationToken !== undefined);
        expect(seen.sort()).toEqual(Delimiter ? ['a', 'a/*', 'b', 'c/*', 'd'] : keys);
      }
    }
    expect(names(await list({ Prefix: 'a/' }))).toEqual(['a/1', 'a/2', 'a/b/3']);
    expect(names(await list({ Prefix: 'a/', Delimiter: '/' }))).toEqual(['a/1', 'a/2', 'a/b/*']);
    expect(names(await list({ StartAfter: 'b' }))).toEqual(['c/1', 'c/2', 'd']);
    expect(names(await list({ StartAfter: 'bb' }))).toEqual(['c/1', 'c/2', 'd']);
    expect(names(await list({ Prefix: 'a', StartAfter: 'b' }))).toEqual([]);
    expect(names(await list({ Prefix: 'none' }))).toEqual([]);
    expect(names(await list({ MaxKeys: 0 }))).toEqual([]);
    expect(await refusal(list({ MaxKeys: -1 }))).toBe('InvalidArgument 400');
    expect((await client.send(new ListObjectsCommand({ Bucket }))).IsTruncated).toBe(false);
    const location = await client.send(new GetBucketLocationCommand({ Bucket }));
    expect(location.LocationConstraint).toBe(REGION);
  });
});

describe('responses', () => {
  it('have a unique ID, and errors have a resource', async () => {
    const rig = await startRig();
    const ids = new Set<unknown>();
    for (const path of [BUCKET, `${BUCKET}/none`, '', 'nowhere', `${BUCKET}/%00`]) {
      const reply = await send(rig.endpoint, signed(rig.endpoint, { path }));
      expect(reply.headers['x-amz-request-id']).toMatch(/^[0-9A-F]{16}$/);
      ids.add(reply.headers['x-amz-request-id']);
      if (reply.status >= 400) expect(reply.body.toString()).toContain(`<RequestId>${[...ids].at(-1)}<`);
    }
    expect(ids.size).toBe(5);
    const missing = await send(rig.endpoint, signed(rig.endpoint, { path: `${BUCKET}/a&<b>` }));
    expect(missing.headers['content-type']).toBe('application/xml');
    expect(missing.body.toString()).toContain('<Key>a&amp;&lt;b&gt;</Key>');
  });

  it('have no body after a failed HEAD', async () => {
    const rig = await startRig();
    const reply = await send(rig.endpoint, signed(rig.endpoint, { method: 'HEAD', path: `${BUCKET}/none` }));
    expect(reply.status).toBe(404);
    expect(reply.body).toHaveLength(0);
  });

  it('refuse unsupported operations instead of doing something else', async () => {
    const rig = await startRig();
    const client = rig.client();
    await put(client, 'k');
    expect(await refusal(client.send(new GetBucketAclCommand({ Bucket })))).toBe('NotImplemented 501');
    const Tagging = { TagSet: [{ Key: 'a', Value: 'b' }] };
    const tag = new PutObjectTaggingCommand({ Bucket, Key: 'k', Tagging });
    expect(await refusal(client.send(tag))).toBe('NotImplemented 501');
    expect(await body(client, 'k')).toBe('k');
    const encrypted = new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', ServerSideEncryption: 'AES256' });
    expect(await refusal(client.send(encrypted))).toBe('NotImplemented 501');
    const guarded = new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', IfNoneMatch: '*' });
    expect(await refusal(client.send(guarded))).toBe('NotImplemented 501');
    const copy = new CopyObjectCommand({ Bucket, Key: 'c', CopySource: `${BUCKET}/k` });
    const parts = new CreateMultipartUploadCommand({ Bucket, Key: 'k' });
    const several = new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'k' }] } });
    const bucket = new CreateBucketCommand({ Bucket: 'new-one' });
    expect(await refusal(client.send(copy))).toBe('NotImplemented 501');
    expect(await refusal(client.send(parts))).toBe('NotImplemented 501');
    expect(await refusal(client.send(several))).toBe('NotImplemented 501');
    expect(await refusal(client.send(bucket))).toBe('NotImplemented 501');
    expect(await body(client, 'k')).toBe('k');
    for (const path of ['', BUCKET, `${BUCKET}/k`]) {
      const reply = await send(rig.endpoint, signed(rig.endpoint, { method: 'PATCH', path }));
      expect([reply.status, reply.code]).toEqual([501, 'NotImplemented']);
    }
  });
});
