import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import { fileOfKey } from '../../../src/documents/download/targets.ts';
import { downloadOne } from '../download/download-one.ts';

// Mocked here, and only here: responses that no available bucket can be made to give.
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300_000, 'x')]);
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const wanted = fileOfKey('esign/envelopes/org_1/env_1/signed.pdf');
let dir: string;

// The mock replaces HTTP in the whole process, which other test files share.
beforeAll(() => {
  if (!nock.isActive()) nock.activate();
});
afterAll(() => nock.restore());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-errors-'));
});
afterEach(async () => {
  nock.cleanAll();
  await rm(dir, { recursive: true, force: true });
});

describe("the bucket's errors", () => {
  const xml = (code: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message></Message>${code === 'AuthorizationHeaderMalformed' ? '<Region>eu-west-3</Region>' : ''}</Error>`;

  it.each([
    [404, 'NoSuchKey', 'STORAGE_NOT_FOUND', 'the object does not exist'],
    [404, 'NoSuchBucket', 'STORAGE_NOT_FOUND', 'the bucket does not exist'],
    [403, 'AccessDenied', 'STORAGE_DENIED', 'access denied'],
    [403, 'InvalidAccessKeyId', 'STORAGE_CREDENTIALS', 'access key ID'],
    [403, 'SignatureDoesNotMatch', 'STORAGE_CREDENTIALS', 'the signature is wrong'],
    [301, 'PermanentRedirect', 'STORAGE_UNREACHABLE', 'different region'],
    [400, 'AuthorizationHeaderMalformed', 'STORAGE_UNREACHABLE', 'eu-west-3'],
    [302, 'Found', 'STORAGE_UNREACHABLE', '302'],
    [301, 'MovedPermanently', 'STORAGE_UNREACHABLE', 'redirected (301)'],
    [403, 'SomethingNew', 'STORAGE_DENIED', 'access denied'],
  ])('turns %i %s into %s', async (status, name, code, words) => {
    nock('https://s3.test').get(/.*/).reply(status, xml(name), { 'content-type': 'application/xml' });
    const bucket = await openBucket({
      bucket: 'b',
      endpoint: 'https://s3.test',
      accessKeyId: 'AKID',
      secretAccessKey: 's',
    });
    const error: unknown = await downloadOne(bucket, wanted, {
      dir,
      force: false,
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) as unknown });
    bucket.close();
  });

  it("offer an envelope's documents if the key is an envelope's ID", async () => {
    nock('https://s3.test').get(/.*/).reply(404, xml('NoSuchKey'), { 'content-type': 'application/xml' });
    const bucket = await openBucket({
      bucket: 'b',
      endpoint: 'https://s3.test',
      accessKeyId: 'AKID',
      secretAccessKey: 's',
    });
    await expect(bucket.open('env_1', {})).rejects.toMatchObject({
      hint: expect.stringContaining('envelopes download env_1') as unknown,
    });
    bucket.close();
  });

  it('include a page in place of the metadata', async () => {
    nock('https://s3.test').head(/.*/).reply(200, '', { 'content-type': 'text/html' });
    const settings = { bucket: 'b', endpoint: 'https://s3.test', accessKeyId: 'AKID', secretAccessKey: 's' };
    const bucket = await openBucket(settings);
    await expect(bucket.head('k')).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
    bucket.close();
  });

  it('are retried if they are temporary', async () => {
    nock('https://s3.test')
      .get(/.*/)
      .reply(503, xml('SlowDown'))
      .get(/.*/)
      .reply(200, pdf, { 'content-length': String(pdf.byteLength), etag: `"${md5(pdf)}"` });
    const bucket = await openBucket({
      bucket: 'b',
      endpoint: 'https://s3.test',
      accessKeyId: 'AKID',
      secretAccessKey: 's',
    });
    expect(await downloadOne(bucket, wanted, { dir, force: false })).toMatchObject({
      status: 'downloaded',
    });
    bucket.close();
  });

  it('name the unreachable endpoint', async () => {
    const bucket = await openBucket({
      bucket: 'b',
      endpoint: 'http://127.0.0.1:1',
      accessKeyId: 'AKID',
      secretAccessKey: 's',
    });
    await expect(downloadOne(bucket, wanted, { dir, force: false })).rejects.toMatchObject({
      code: 'STORAGE_UNREACHABLE',
    });
    bucket.close();
  });

  it('report that no bucket is configured', async () => {
    await expect(openBucket({})).rejects.toMatchObject({ code: 'STORAGE_NOT_CONFIGURED' });
  });
});
