import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type ChecksumAlgorithm,
  type ChecksumType,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { BUCKET, bytes, type Rig, refusal, startRig } from './rig.ts';

const Bucket = BUCKET;
const Key = 'big été.pdf';
const MIB = 1024 * 1024;
const PARTS = [bytes(5 * MIB), bytes(5 * MIB + 1), bytes(17)];
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest();

async function begin(
  client: S3Client,
  options: { ChecksumAlgorithm?: ChecksumAlgorithm; ChecksumType?: ChecksumType } = {},
) {
  const begun = await client.send(
    new CreateMultipartUploadCommand({
      Bucket,
      Key,
      ContentType: 'application/pdf',
      Metadata: { a: 'b' },
      ...options,
    }),
  );
  return { Bucket, Key, UploadId: begun.UploadId };
}
type Upload = Awaited<ReturnType<typeof begin>>;

async function part(client: S3Client, upload: Upload, PartNumber: number, Body: Uint8Array, options = {}) {
  const stored = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body, ...options }));
  return { ...stored, PartNumber };
}

const complete = (
  client: S3Client,
  upload: Upload,
  Parts: CompletedPart[],
  options: Partial<CompleteMultipartUploadCommandInput> = {},
) => client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...options }));

async function content(rig: Rig) {
  const stored = await rig.server.objects(BUCKET).get(Key);
  return stored === null ? null : Buffer.from(stored);
}

describe('a multipart upload', () => {
  it('becomes one object, with S3’s ETag, also when the server restarts between', async () => {
    const rig = await startRig();
    const upload = await begin(rig.client());
    const third = await part(rig.client(), upload, 30, PARTS[2] ?? bytes(1));
    await part(rig.client(), upload, 1, bytes(10));
    await rig.restart();
    const client = rig.client();
    const second = await part(client, upload, 2, PARTS[1] ?? bytes(1));
    const first = await part(client, upload, 1, PARTS[0] ?? bytes(1));
    expect(await content(rig)).toBeNull();
    expect((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);

    const listed = await client.send(new ListPartsCommand({ ...upload, MaxParts: 2 }));
    expect(listed.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
      [1, 5 * MIB],
      [2, 5 * MIB + 1],
    ]);
    expect(listed.IsTruncated).toBe(true);
    const rest = await client.send(
      new ListPartsCommand({ ...upload, PartNumberMarker: listed.NextPartNumberMarker }),
    );
    expect(rest.Parts?.map(({ ETag }) => ETag)).toEqual([third.ETag]);

    const done = await complete(client, upload, [first, second, third]);
    const etag = `"${createHash('md5')
      .update(Buffer.concat(PARTS.map(md5)))
      .digest('hex')}-3"`;
    expect(done.ETag).toBe(etag);
    expect((await content(rig))?.equals(Buffer.concat(PARTS))).toBe(true);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ETag: etag, ContentType: 'application/pdf', Metadata: { a: 'b' } });
    const across = new GetObjectCommand({
      Bucket,
      Key,
      Range: `bytes=${5 * MIB - 2}-${5 * MIB + 1}`,
      IfMatch: etag,
    });
    const middle = Buffer.from((await (await client.send(across)).Body?.transformToByteArray()) ?? []);
    expect(middle).toEqual(Buffer.concat(PARTS).subarray(5 * MIB - 2, 5 * MIB + 2));
    expect(await refusal(client.send(new ListPartsCommand(upload)))).toBe('NoSuchUpload 404');
    expect(await refusal(complete(client, upload, [first]))).toBe('NoSuchUpload 404');
    expect(await rig.tree()).not.toContainEqual(expect.stringContaining(upload.UploadId ?? '-'));
  });

  it('takes only the parts it is told, in order, each as it was sent', async () => {
    const rig = await startRig();
    const client = rig.client();
    const upload = await begin(client);
    const one = await part(client, upload, 1, bytes(100));
    const two = await part(client, upload, 2, bytes(100));
    const outcome = (...parts: CompletedPart[]) => refusal(complete(client, upload, parts));
    expect(await outcome(two, one)).toBe('InvalidPartOrder 400');
    expect(await outcome(one, one)).toBe('InvalidPartOrder 400');
    expect(await outcome(one, { ...two, PartNumber: 3 })).toBe('InvalidPart 400');
    expect(await outcome({ ...one, ETag: two.ETag })).toBe('InvalidPart 400');
    expect(await outcome({ ...one, ChecksumCRC32: two.ChecksumCRC32 })).toBe('InvalidPart 400');
    expect(await outcome(one, two)).toBe('EntityTooSmall 400');
    expect(await outcome()).toBe('MalformedXML 400');
    expect(await outcome({ ...one, PartNumber: undefined })).toBe('MalformedXML 400');
    expect(await content(rig)).toBeNull();
    expect(await outcome(two)).toBe('none');
    expect(await content(rig)).toHaveLength(100);
  });

  it('can be given up', async () => {
    const rig = await startRig();
    const client = rig.client();
    const before = await rig.tree();
    const upload = await begin(client);
    const one = await part(client, upload, 1, bytes(100));
    await client.send(new AbortMultipartUploadCommand(upload));
    expect(await refusal(client.send(new AbortMultipartUploadCommand(upload)))).toBe('NoSuchUpload 404');
    expect(await refusal(part(client, upload, 2, bytes(1)))).toBe('NoSuchUpload 404');
    expect(await refusal(complete(client, upload, [one]))).toBe('NoSuchUpload 404');
    const left = (await rig.tree()).filter((path) => !path.endsWith('.uploads'));
    expect(left).toEqual(before);
  });

  it('belongs to its key, and parts have numbers from 1 to 10000', async () => {
    const rig = await startRig();
    const client = rig.client();
    const upload = await begin(client);
    expect(await refusal(part(client, { ...upload, Key: 'other' }, 1, bytes(1)))).toBe('NoSuchUpload 404');
    for (const number of [0, 10_001, -1])
      expect(await refusal(part(client, upload, number, bytes(1)))).toBe('InvalidArgument 400');
    expect(await refusal(part(client, upload, 10_000, bytes(1)))).toBe('none');
  });

  it.each(['CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const)(
    'with %s has a checksum of the parts’ checksums',
    async (ChecksumAlgorithm) => {
      const rig = await startRig();
      const client = rig.client();
      const upload = await begin(client, { ChecksumAlgorithm });
      const name = `Checksum${ChecksumAlgorithm}` as const;
      const big = await part(client, upload, 1, PARTS[0] ?? bytes(1), { ChecksumAlgorithm });
      const small = await part(client, upload, 2, PARTS[2] ?? bytes(1), { ChecksumAlgorithm });
      const done = await complete(client, upload, [big, small]);
      const sums = Buffer.concat([big, small].map((one) => Buffer.from(one[name] ?? '', 'base64')));
      // What the SDK computes over the sums when they are an object of their own.
      const witness = await client.send(
        new PutObjectCommand({ Bucket, Key: 'sums', Body: sums, ChecksumAlgorithm }),
      );
      expect(done[name]).toBe(`${witness[name]}-2`);
      expect(done.ChecksumType).toBe('COMPOSITE');
      const wrong = { ChecksumAlgorithm: ChecksumAlgorithm === 'SHA1' ? 'SHA256' : 'SHA1' };
      const other = await begin(client, { ChecksumAlgorithm });
      expect(await refusal(part(client, other, 1, bytes(1), wrong))).toBe('InvalidRequest 400');
    },
  );

  it('can have one checksum over all bytes, which is compared', async () => {
    const rig = await startRig();
    const client = rig.client();
    const whole = Buffer.concat(PARTS);
    const witness = await client.send(
      new PutObjectCommand({ Bucket, Key: 'w', Body: whole, ChecksumAlgorithm: 'CRC64NVME' }),
    );
    const upload = await begin(client, { ChecksumAlgorithm: 'CRC64NVME' });
    const parts: CompletedPart[] = [];
    for (const [at, body] of PARTS.entries())
      parts.push(await part(client, upload, at + 1, body, { ChecksumAlgorithm: 'CRC64NVME' }));
    const wrong = complete(client, upload, parts, { ChecksumCRC64NVME: 'AAAAAAAAAAA=' });
    expect(await refusal(wrong)).toBe('BadDigest 400');
    expect(await content(rig)).toBeNull();
    const right = { ChecksumCRC64NVME: witness.ChecksumCRC64NVME };
    expect(await complete(client, upload, parts, right)).toMatchObject({
      ...right,
      ChecksumType: 'FULL_OBJECT',
    });
    const got = await client.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    expect((await got.Body?.transformToByteArray())?.length).toBe(whole.length);
    const impossible = { ChecksumAlgorithm: 'SHA256', ChecksumType: 'FULL_OBJECT' } as const;
    expect(await refusal(begin(client, impossible))).toBe('InvalidRequest 400');
  });
});
