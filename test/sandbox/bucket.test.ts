import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateMultipartUploadCommand,
  GetBucketAclCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startBucket } from '../../src/sandbox/bucket/server.ts';
import { newFolder } from '../support/folder.ts';

/* The bucket as the AWS SDK and programs without a library use it. */

const REGION = 'eu-west-3';
const Bucket = 'documents';
const owner = { accessKeyId: 'AKIDOWNER', secretAccessKey: 'owner-secret' };
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest('hex');

/** A bucket on a free port with its own folder, and a client for it. */
async function start() {
  const folder = newFolder();
  const all = { dir: join(folder, 'a', 'data'), port: 0, region: REGION, bucket: Bucket };
  const open = () => startBucket({ ...all, ...owner });
  let server = await open();
  const clients: S3Client[] = [];
  const client = (config: Partial<S3ClientConfig> = {}) => {
    const { endpoint } = server;
    const common = { endpoint, region: REGION, forcePathStyle: true, credentials: owner, maxAttempts: 1 };
    const made = new S3Client({ ...common, ...config });
    clients.push(made);
    return made;
  };
  onTestFinished(async () => {
    for (const one of clients) one.destroy();
    await server.close();
  });
  const s3 = client();
  return {
    folder,
    client,
    objects: () => server.objects,
    endpoint: () => server.endpoint,
    put: (Key: string, Body: string | Uint8Array = Key) =>
      s3.send(new PutObjectCommand({ Bucket, Key, Body })),
    get: (Key: string, more: object = {}) => s3.send(new GetObjectCommand({ Bucket, Key, ...more })),
    text: async (Key: string, more: object = {}) =>
      (await s3.send(new GetObjectCommand({ Bucket, Key, ...more }))).Body?.transformToString(),
    send: s3.send.bind(s3),
    link: (Key: string, expiresIn = 60) =>
      getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }), { expiresIn }),
    restart: async () => {
      await server.close();
      server = await open();
      return client();
    },
  };
}

/** The name and status of the error of an SDK call. */
function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (error: unknown) => {
      if (!(error instanceof Error)) return String(error);
      const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
      const hasStatus = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata;
      return hasStatus
        ? `${error.name} ${String(metadata.httpStatusCode)}`
        : `${error.name}: ${error.message}`;
    },
  );
}

async function codeOf(reply: Response): Promise<string> {
  return `${reply.status} ${/<Code>(\w+)</.exec(await reply.text())?.[1] ?? ''}`;
}

describe('objects', () => {
  it('are returned as they were stored: bytes, type, ETag, checksum, and time', async () => {
    const bucket = await start();
    const Body = randomBytes(70_000);
    await bucket.put('k.pdf', Body);
    const expected = {
      ContentType: 'application/pdf',
      ETag: `"${md5(Body)}"`,
      ContentLength: 70_000,
      AcceptRanges: 'bytes',
      LastModified: expect.any(Date) as unknown,
      ChecksumCRC64NVME: expect.stringMatching(/^[\w+/]{11}=$/) as unknown,
    };
    const whole = { Bucket, Key: 'k.pdf', ChecksumMode: 'ENABLED' } as const;
    // The SDK verifies the checksum while it reads the body.
    const got = await bucket.send(new GetObjectCommand(whole));
    expect(got).toMatchObject(expected);
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(Body)).toBe(true);
    expect(await bucket.send(new HeadObjectCommand(whole))).toMatchObject(expected);
  });

  it('are shared with the service, and survive a restart', async () => {
    const bucket = await start();
    await bucket.objects().put('esign/x.pdf', Buffer.from('%PDF-1.7'));
    expect(await bucket.text('esign/x.pdf')).toBe('%PDF-1.7');
    await bucket.put('mine', 'other');
    const again = await bucket.restart();
    const got = await again.send(new GetObjectCommand({ Bucket, Key: 'esign/x.pdf' }));
    expect([got.ETag, await got.Body?.transformToString()]).toEqual([
      `"${md5(Buffer.from('%PDF-1.7'))}"`,
      '%PDF-1.7',
    ]);
    expect(await bucket.objects().get('mine')).toEqual(Buffer.from('other'));
    expect(await bucket.objects().get('esign/y.pdf')).toBeNull();
  });

  it.each([
    ['bytes=100-199', [100, 200]],
    ['bytes=9990-', [9_990, 10_000]],
    ['bytes=-5', [9_995, 10_000]],
    ['bytes=9999-99999', [9_999, 10_000]],
  ])('return the range %s', async (Range, [from = 0, to = 0]) => {
    const bucket = await start();
    const content = randomBytes(10_000);
    await bucket.put('k', content);
    const reply = await bucket.get('k', { Range });
    expect(reply.ContentRange).toBe(`bytes ${from}-${to - 1}/10000`);
    expect(Buffer.from((await reply.Body?.transformToByteArray()) ?? [])).toEqual(content.subarray(from, to));
  });

  it('evaluate conditions before the range, so that a resumed download never mixes two versions', async () => {
    const bucket = await start();
    const { ETag } = await bucket.put('k', 'first version');
    expect(await refusal(bucket.text('k', { Range: 'bytes=1-', IfMatch: ETag }))).toBe('none');
    expect(await refusal(bucket.text('k', { IfNoneMatch: ETag }))).toMatch(/ 304$/);
    expect(await refusal(bucket.text('k', { Range: 'bytes=99-' }))).toBe('InvalidRange 416');
    await bucket.put('k', '2nd');
    expect(await refusal(bucket.text('k', { Range: 'bytes=5-', IfMatch: ETag }))).toBe(
      'PreconditionFailed 412',
    );
  });

  it.each(['../../../outside', 'a/../b', '/', 'été k', 'a b+c&<d>', '\u{1F58B}/x', '.'])(
    'have any key, and none leaves the folder: %j',
    async (key) => {
      const bucket = await start();
      await bucket.objects().put(key, Buffer.from(key));
      const link = await bucket.link(key === '.' ? '%2e' : key);
      if (key !== '.' && !key.includes('..')) expect(await (await fetch(link)).text()).toBe(key);
      expect(Buffer.from((await bucket.objects().get(key)) ?? []).toString()).toBe(key);
      expect(await readdir(bucket.folder)).toEqual(['a']);
    },
  );
});

describe('a list', () => {
  it('has every key once, in pages, by prefix, by delimiter, and after a key', async () => {
    const bucket = await start();
    const keys = ['a', 'a/1', 'a/2', 'a/b/3', 'b', 'c/1', 'c/2', 'd'];
    for (const key of keys) await bucket.put(key);
    const list = (options: object) => bucket.send(new ListObjectsV2Command({ Bucket, ...options }));
    const names = ({ Contents = [], CommonPrefixes = [] }: Awaited<ReturnType<typeof list>>) => [
      ...Contents.map(({ Key }) => Key),
      ...CommonPrefixes.map(({ Prefix }) => `${Prefix}*`),
    ];
    for (const Delimiter of [undefined, '/'])
      for (const MaxKeys of [1, 2, 3, 8]) {
        const seen: unknown[] = [];
        let ContinuationToken: string | undefined;
        do {
          const page = await list({ MaxKeys, Delimiter, ContinuationToken });
          expect(page.KeyCount).toBeLessThanOrEqual(MaxKeys);
          seen.push(...names(page));
          ContinuationToken = page.NextContinuationToken;
        } while (ContinuationToken !== undefined);
        expect(seen.sort()).toEqual(Delimiter ? ['a', 'a/*', 'b', 'c/*', 'd'] : keys);
      }
    expect(names(await list({ Prefix: 'a/', Delimiter: '/' }))).toEqual(['a/1', 'a/2', 'a/b/*']);
    expect(names(await list({ StartAfter: 'b' }))).toEqual(['c/1', 'c/2', 'd']);
    expect(names(await list({ Prefix: 'none' }))).toEqual([]);
  });

  it('finds the bucket and its region', async () => {
    const bucket = await start();
    expect((await bucket.send(new ListBucketsCommand())).Buckets).toMatchObject([{ Name: Bucket }]);
    expect((await bucket.send(new HeadBucketCommand({ Bucket }))).BucketRegion).toBe(REGION);
  });
});

describe('a request', () => {
  it('is refused with the reason that S3 gives', async () => {
    const bucket = await start();
    await bucket.put('k');
    const get = new GetObjectCommand({ Bucket, Key: 'k' });
    const secretAccessKey = 'nope';
    const refused = (config: object) => refusal(bucket.client(config).send(get));
    expect(await refused({ credentials: { ...owner, secretAccessKey } })).toBe('SignatureDoesNotMatch 403');
    expect(await refused({ credentials: { ...owner, accessKeyId: 'AKIDNOBODY' } })).toBe(
      'InvalidAccessKeyId 403',
    );
    expect(await refused({ region: 'us-west-2' })).toBe('AuthorizationHeaderMalformed 400');
    expect(await refusal(bucket.text('none'))).toBe('NoSuchKey 404');
    expect(await refusal(bucket.send(new HeadObjectCommand({ Bucket, Key: 'none' })))).toBe('NotFound 404');
    expect(await refusal(bucket.send(new GetObjectCommand({ Bucket: 'nowhere', Key: 'k' })))).toBe(
      'NoSuchBucket 404',
    );
    expect(await refusal(bucket.send(new GetBucketAclCommand({ Bucket })))).toBe('NotImplemented 501');
    const parts = new CreateMultipartUploadCommand({ Bucket, Key: 'k' });
    expect(await refusal(bucket.send(parts))).toBe('NotImplemented 501');
  });

  it.each(['GET', 'PUT', 'HEAD'])('is denied without a signature: %s', async (method) => {
    const bucket = await start();
    await bucket.put('k', 'secret');
    for (const path of ['/', `/${Bucket}`, `/${Bucket}/k`, '/nowhere/x']) {
      const body = method === 'PUT' ? { body: 'x' } : {};
      expect((await fetch(`${bucket.endpoint()}${path}`, { method, ...body })).status).toBe(403);
    }
    expect(await bucket.text('k')).toBe('secret');
  });

  it('is refused if its time is wrong', async () => {
    const bucket = await start();
    await bucket.put('k');
    const client = bucket.client({ systemClockOffset: 5 * 3_600_000 });
    expect(await refusal(client.send(new GetObjectCommand({ Bucket, Key: 'k' })))).toBe(
      'RequestTimeTooSkewed 403',
    );
  });
});

describe('a presigned link', () => {
  it('reads an object or a part of it until it expires, and nothing else', async () => {
    const bucket = await start();
    await bucket.put('k', 'secret');
    const link = await bucket.link('k');
    expect(await (await fetch(link)).text()).toBe('secret');
    const part = await fetch(link, { headers: { range: 'bytes=1-2' } });
    expect([part.status, await part.text()]).toEqual([206, 'ec']);
    for (const wrong of [
      link.replace('/k?', '/l?'),
      link.replace('Expires=60', 'Expires=61'),
      link.replace(/Signature=./, 'Signature=z'),
      `${link}&uploads=`,
    ])
      expect(await codeOf(await fetch(wrong))).toBe('403 SignatureDoesNotMatch');
    expect(await codeOf(await fetch(link, { method: 'PUT', body: 'x' }))).toBe('403 SignatureDoesNotMatch');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await codeOf(await fetch(link))).toBe('403 AccessDenied');
  });
});
