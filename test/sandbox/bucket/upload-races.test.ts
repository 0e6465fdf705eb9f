import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it, vi } from 'vitest';
import { summed } from '../../../src/sandbox/bucket/checksums.ts';
import { ObjectStore } from '../../../src/sandbox/bucket/object-store.ts';
import { type Upload, Uploads } from '../../../src/sandbox/bucket/uploads.ts';
import { BUCKET, bytes, refusal, startRig } from './rig.ts';

const about: Upload = {
  ...{ key: 'k', contentType: 'text/plain', metadata: {}, headers: {} },
  ...{ algorithm: 'CRC32', checksumType: 'COMPOSITE' },
};
const options = { maxBytes: 1_000_000, guard: () => undefined, accept: () => undefined };
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest();

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

const body = (text: string) => summed(once(Buffer.from(text)), 'CRC32');

/** A store without a server, to do something at the very moment at which it matters. */
async function begun() {
  const rig = await startRig();
  const store = await ObjectStore.open(rig.dir, Date.now);
  const uploads = await Uploads.open(store);
  const id = await uploads.begin(BUCKET, about);
  return { store, uploads, name: { bucket: BUCKET, key: 'k', id } };
}

async function read(store: ObjectStore): Promise<Buffer | undefined> {
  const object = await store.open(BUCKET, 'k');
  if (object === undefined) return undefined;
  try {
    return await buffer(object.read(0, object.facts.size));
  } finally {
    await object.close();
  }
}

describe('while an upload is being completed', () => {
  it('a part that is replaced never comes under the ETag of the one before', async () => {
    const { store, uploads, name } = await begun();
    const chosen = await uploads.putPart(name, 1, about, body('chosen'));
    const wanted = [{ number: 1, etag: chosen.etag, checksums: {} }];
    const put = store.put.bind(store);
    vi.spyOn(store, 'put').mockImplementationOnce(async (...args) => {
      await uploads.putPart(name, 1, about, body('other'));
      return put(...args);
    });
    await expect(uploads.complete(name, wanted, options)).rejects.toMatchObject({ code: 'InvalidPart' });
    expect(await read(store)).toBeUndefined();
    // The client is told, sends the part again and can go on.
    await uploads.putPart(name, 1, about, body('chosen'));
    const { etag } = await uploads.complete(name, wanted, options);
    expect(etag).toBe(`${md5(md5(Buffer.from('chosen'))).toString('hex')}-1`);
    expect(await read(store)).toEqual(Buffer.from('chosen'));
  });

  it('a second completion finds it done or makes the same object', async () => {
    const { store, uploads, name } = await begun();
    const { etag } = await uploads.putPart(name, 1, about, body('part'));
    const complete = () => uploads.complete(name, [{ number: 1, etag, checksums: {} }], options);
    const outcomes = await Promise.allSettled([complete(), complete(), complete()]);
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.code)] : []));
    expect(failures.length).toBeLessThan(3);
    expect(failures.filter((code) => code !== "NoSuchUpload")).toEqual([]);
    expect(await read(store)).toEqual(Buffer.from('part'));
  });
});

describe('an upload that is given up', () => {
  it('while its parts are still on the way goes at once, and for good', async () => {
    const rig = await startRig();
    const before = (await rig.tree()).length;
    const client = rig.client();
    for (let round = 0; round < 8; round++) {
      const target = { Bucket: BUCKET, Key: 'k' };
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
      const upload = { ...target, UploadId };
      const sent = Array.from({ length: 8 }, (_, at) =>
        refusal(client.send(new UploadPartCommand({ ...upload, PartNumber: at + 1, Body: bytes(300_000) }))),
      );
      const folder = join(rig.dir, BUCKET, '.uploads', UploadId ?? '');
      await vi.waitFor(async () => expect((await readdir(folder)).length).toBeGreaterThan(1));
      expect(await refusal(client.send(new AbortMultipartUploadCommand(upload)))).toBe('none');
      for (const outcome of await Promise.all(sent)) expect(outcome).toMatch(/^(none|NoSuchUpload 404)$/);
      expect(await refusal(client.send(new ListPartsCommand(upload)))).toBe('NoSuchUpload 404');
    }
    // The one path more is the folder of all uploads, which is empty again.
    expect(await rig.tree()).toHaveLength(before + 1);
  });
});

it('A start clears away what a crash left of uploads, and keeps those that can go on', async () => {
  const rig = await startRig();
  const client = rig.client();
  const target = { Bucket: BUCKET, Key: 'k' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: 'part' }));
  const whole = await rig.tree();
  const uploads = join(rig.dir, BUCKET, '.uploads');
  await writeFile(join(uploads, UploadId ?? '', '.0123456789abcdef.tmp'), 'half a part');
  for (const id of [`${'a'.repeat(32)}.gone`, 'b'.repeat(32)]) {
    await mkdir(join(uploads, id));
    await writeFile(join(uploads, id, '1'), 'a part of nothing');
  }
  await rig.restart();
  expect(await rig.tree()).toEqual(whole);
  const { Parts } = await rig.client().send(new ListPartsCommand({ ...target, UploadId }));
  expect(Parts).toMatchObject([{ PartNumber: 1, Size: 4 }]);
});
