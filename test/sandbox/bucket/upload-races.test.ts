import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateMultipartUploadCommand, ListPartsCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { describe, expect, it, vi } from 'vitest';
import { summed } from '../../../src/sandbox/bucket/checksums.ts';
import { ObjectStore } from '../../../src/sandbox/bucket/object-store.ts';
import { S3Error } from '../../../src/sandbox/bucket/s3-error.ts';
import { type Upload, Uploads } from '../../../src/sandbox/bucket/uploads.ts';
import { BUCKET, startRig } from './rig.ts';

const about: Upload = {
  ...{ key: 'k', contentType: 'text/plain', metadata: {}, headers: {} },
  ...{ algorithm: 'CRC32', checksumType: 'COMPOSITE', startedAt: '2026-03-01T09:30:00.000Z' },
};
const options = { maxBytes: 1_000_000, guard: () => undefined, accept: () => undefined };
const md5 = (data: Uint8Array) => createHash('md5').update(data).digest();

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

async function* inPieces(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 10; piece++) yield Buffer.alloc(10_000, piece);
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

  it('it can still be given up, and then there is no object', async () => {
    const { store, uploads, name } = await begun();
    const { etag } = await uploads.putPart(name, 1, about, body('part'));
    const put = store.put.bind(store);
    vi.spyOn(store, 'put').mockImplementationOnce(async (bucket, key, { chunks, check }, facts, more) => {
      async function* whole() {
        yield* chunks;
        // The bytes have been read, the object does not appear yet.
        await uploads.abort(name);
      }
      return put(bucket, key, { chunks: whole(), check }, facts, more);
    });
    const completion = uploads.complete(name, [{ number: 1, etag, checksums: {} }], options);
    await expect(completion).rejects.toMatchObject({ code: 'NoSuchUpload' });
    expect(await read(store)).toBeUndefined();
  });

  it('whoever made the object is told so, also when another was there at the same time', async () => {
    const { store, uploads, name } = await begun();
    const { etag } = await uploads.putPart(name, 1, about, body('part'));
    const complete = () => uploads.complete(name, [{ number: 1, etag, checksums: {} }], options);
    const put = store.put.bind(store);
    // The first has made its object and not yet cleared away when the second does all of its work.
    vi.spyOn(store, 'put').mockImplementationOnce(async (...args) => {
      const stored = await put(...args);
      await complete();
      return stored;
    });
    expect((await complete()).etag).toMatch(/-1$/);
    expect(await read(store)).toEqual(Buffer.from('part'));
    await expect(complete()).rejects.toMatchObject({ code: 'NoSuchUpload' });
  });
});

it('An upload that is given up while its parts are on the way goes at once, and for good', async () => {
  const { store, uploads, name: first } = await begun();
  await uploads.abort(first);
  const folder = join(store.folderOf(BUCKET), '.uploads');
  for (let round = 0; round < 24; round++) {
    const name = { ...first, id: await uploads.begin(BUCKET, about) };
    const sent = Array.from({ length: 12 }, (_, at) =>
      uploads.putPart(name, at + 1, about, summed(inPieces(), 'CRC32')).then(
        () => 'stored',
        (error: unknown) => (error instanceof S3Error ? error.code : error),
      ),
    );
    // Sooner or later: files are still being made in the folder, written or already under their names.
    await sleep(round % 8);
    await uploads.abort(name);
    expect(await readdir(folder)).toEqual([]);
    for (const outcome of await Promise.all(sent)) expect(outcome).toMatch(/^(stored|NoSuchUpload)$/);
    await expect(uploads.parts(name)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    expect(await readdir(folder)).toEqual([]);
  }
});

it('A start clears away what a crash left of uploads, and keeps those that can go on', async () => {
  const rig = await startRig();
  const client = rig.client();
  const target = { Bucket: BUCKET, Key: 'k' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: 'part' }));
  const uploads = join(rig.dir, BUCKET, '.uploads');
  await writeFile(join(uploads, '.DS_Store'), 'x');
  const whole = await rig.tree();
  await writeFile(join(uploads, UploadId ?? '', '.0123456789abcdef.tmp'), 'half a part');
  for (const id of [`${'a'.repeat(32)}.gone`, 'b'.repeat(32)]) {
    await mkdir(join(uploads, id));
    await writeFile(join(uploads, id, '1'), 'a part of nothing');
  }
  await writeFile(join(uploads, `${'a'.repeat(32)}.gone`, 'upload.json'), '{}');
  await rig.restart();
  expect(await rig.tree()).toEqual(whole);
  const { Parts } = await rig.client().send(new ListPartsCommand({ ...target, UploadId }));
  expect(Parts).toMatchObject([{ PartNumber: 1, Size: 4 }]);
});
