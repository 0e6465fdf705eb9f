import { join } from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPrivate } from '../../support/private.ts';
import { BUCKET, send, signed, startRig } from './rig.ts';

const Bucket = BUCKET;
const ODD = [
  'dossier été/contrat n°1 (v2)+final.pdf',
  "a b/c&d=e;f,g@h!~*'.pdf",
  'deep//double/./x.pdf',
  '日本/契約.pdf',
  '100%/a%2Fb.pdf',
  '../../../escape',
  '/etc/passwd',
  '..',
  'a',
  'a/b',
  'emoji 🖋/\uffff',
  'tab\tand\r\nline',
  '<&>"]]>',
  'x'.repeat(1024),
];

describe('a key', () => {
  it.each(ODD)('can be put, fetched, listed, and deleted: %j', async (Key) => {
    const rig = await startRig();
    const put = signed(rig.endpoint, { method: 'PUT', path: `${Bucket}/${Key}`, body: Key });
    expect((await send(rig.endpoint, put)).status).toBe(200);
    const got = await send(rig.endpoint, signed(rig.endpoint, { path: `${Bucket}/${Key}` }));
    expect(got.body.toString()).toBe(Key);
    const client = rig.client();
    const page = await client.send(new ListObjectsV2Command({ Bucket, EncodingType: 'url' }));
    expect(page.Contents?.map((one) => decodeURIComponent(one.Key ?? ''))).toEqual([Key]);
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    expect((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
  });

  it('is returned by the SDK if the SDK can send it', async () => {
    const rig = await startRig();
    const client = rig.client();
    const keys = ODD.filter((key) => !key.includes('..'));
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    for (const Key of keys) {
      const reply = await client.send(new GetObjectCommand({ Bucket, Key }));
      expect(await reply.Body?.transformToString()).toBe(Key);
    }
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    // XML has no U+FFFF, so S3 can encode keys in lists.
    const readable = keys.map((key) => key.replace('\uffff', '\ufffd'));
    expect(Contents.map(({ Key }) => Key).sort()).toEqual(readable.sort());
  });

  it('maps to one file in the bucket’s folder and nowhere else', async () => {
    const rig = await startRig();
    const before = await rig.tree();
    for (const key of ODD) {
      const put = signed(rig.endpoint, { method: 'PUT', path: `${Bucket}/${key}`, body: key });
      expect((await send(rig.endpoint, put)).status).toBe(200);
    }
    const made = (await rig.tree()).filter((path) => !before.includes(path));
    expect(made).toHaveLength(ODD.length);
    for (const path of made) expect(path).toMatch(/^a[\\/]b[\\/]data[\\/]documents[\\/][0-9a-f]{64}$/);
    expect(isPrivate(join(rig.outside, made[0] ?? ''))).toBe(true);
  });

  it("doesn't leave the folder as the name of a bucket, either", async () => {
    const rig = await startRig();
    const before = await rig.tree();
    for (const path of [
      '..',
      '.',
      '.uploads',
      '\0',
      'a..b',
      '1.2.3.4',
      'Documents',
      'ab',
      '../../documents',
    ]) {
      for (const method of ['PUT', 'DELETE']) {
        const reply = await send(rig.endpoint, signed(rig.endpoint, { method, path }));
        expect([404, 501]).toContain(reply.status);
      }
    }
    expect(await rig.tree()).toEqual(before);
  });

  it('is refused if it is too long or not UTF-8', async () => {
    const rig = await startRig();
    const put = signed(rig.endpoint, { method: 'PUT', path: `${Bucket}/${'é'.repeat(513)}`, body: 'x' });
    expect((await send(rig.endpoint, put)).code).toBe('KeyTooLongError');
    const good = signed(rig.endpoint, { path: `${Bucket}/k` });
    expect((await send(rig.endpoint, { ...good, target: `/${Bucket}/%ff%fe` })).code).toBe('InvalidURI');
    expect((await send(rig.endpoint, { ...good, target: `/${Bucket}/%` })).code).toBe('InvalidURI');
  });

  it('is distinct from every other key with Unicode', async () => {
    const rig = await startRig();
    const objects = rig.server.objects;
    const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { minLength: 1, maxLength: 4 }), async (keys) => {
        for (const one of keys) await objects.put(one, Buffer.from(`body of ${one}`), 'text/plain');
        for (const one of keys) {
          const reply = await send(rig.endpoint, signed(rig.endpoint, { path: `${Bucket}/${one}` }));
          expect(reply.body.toString()).toBe(`body of ${one}`);
        }
      }),
      { numRuns: 30 },
    );
  });
});
