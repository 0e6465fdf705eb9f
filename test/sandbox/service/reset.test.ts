import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { startBucket } from '../../../src/sandbox/bucket/server.ts';
import type { ObjectWriter } from '../../../src/sandbox/model.ts';
import {
  envelopeIn,
  errorIn,
  MemoryObjects,
  plainDocuments,
  startRig,
  tempFolder,
  twoSigners,
} from './rig.ts';

const Bucket = 'esign-sandbox';
const account = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

/** A real bucket, as an S3 client sees it. */
async function realBucket() {
  const options = { dir: await tempFolder(), host: '127.0.0.1', port: 0, region: 'us-east-1' };
  const open = () => startBucket({ ...options, ...account, bucket: Bucket, now: () => Date.now() });
  let server = await open();
  const client = () => {
    const s3 = new S3Client({
      endpoint: server.endpoint,
      region: options.region,
      forcePathStyle: true,
      credentials: account,
      maxAttempts: 1,
    });
    onTestFinished(() => s3.destroy());
    return s3;
  };
  onTestFinished(() => server.close());
  return {
    objects: () => server.objects,
    restart: async () => {
      await server.close();
      server = await open();
    },
    put: (Key: string, Body: string) => client().send(new PutObjectCommand({ Bucket, Key, Body })),
    keys: async () =>
      ((await client().send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key }) => Key),
    text: async (Key: string) =>
      (await client().send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString(),
  };
}

test('reset deletes the documents of all envelopes from the bucket, and nothing that somebody else put there', async () => {
  const bucket = await realBucket();
  const dataDir = await tempFolder();
  const first = await startRig({ objects: bucket.objects(), dataDir });
  const { id } = await first.create({ sendImmediately: true });
  const done = await first.act(id, 'sign', { all: true });
  const draft = await first.create();
  const replaced = await first.create();
  await bucket.put('mine/contract.pdf', 'mine');
  await bucket.put(`esign/envelopes/${first.service.orgId}/${id}/notes.txt`, 'my notes');
  await bucket.put(replaced.documentStorageKey, 'my own document');
  expect(await bucket.keys()).toEqual(
    expect.arrayContaining([
      done.certificateStorageKey,
      done.signedDocumentStorageKey,
      draft.documentStorageKey,
    ]),
  );
  await first.service.close();
  await bucket.restart();
  const rig = await startRig({ objects: bucket.objects(), dataDir });
  await rig.control('POST', '/reset');
  expect(await bucket.keys()).toEqual(
    [
      `esign/envelopes/${first.service.orgId}/${id}/notes.txt`,
      replaced.documentStorageKey,
      'mine/contract.pdf',
    ].sort(),
  );
  expect(await bucket.text(replaced.documentStorageKey)).toBe('my own document');
  await bucket.restart();
  expect(await bucket.keys()).toHaveLength(3);
});

test('missingObject: reads counts the reads of an S3 client', async () => {
  const bucket = await realBucket();
  const rig = await startRig({ objects: bucket.objects(), faults: { missingObject: { reads: 2 } } });
  const { documentStorageKey: key } = await rig.create();
  for (let n = 0; n < 2; n += 1) {
    expect(await bucket.keys()).toEqual([]);
    await expect(bucket.text(key)).rejects.toThrow('does not exist');
  }
  expect(await bucket.text(key)).toMatch(/^%PDF/);
});

test('reset also deletes documents that have not been stored yet', async () => {
  const rig = await startRig({ faults: { missingObject: { reads: 5 } } });
  const { documentStorageKey } = await rig.create();
  await rig.control('POST', '/reset');
  await rig.service.close();
  expect(rig.objects.text(documentStorageKey)).toBeUndefined();
});

test('An envelope created during a reset keeps its document', async () => {
  const objects = new MemoryObjects();
  const rig = await startRig({ objects });
  await rig.create();
  const clear = held(objects);
  const reset = rig.control('POST', '/reset');
  await clear.reached;
  const creating = rig.api('POST', '/esign/envelopes', twoSigners);
  // The sandbox handles other requests in the meantime, so the creation is in progress when the reset continues.
  await rig.api('GET', '/esign/envelopes');
  clear.release();
  await reset;
  const created = envelopeIn(await creating);
  expect(objects.text(created.documentStorageKey)).toMatch(/^%PDF/);
  expect([...objects.stored.keys()]).toEqual([created.documentStorageKey]);
});

test('An envelope that is completed while a reset deletes it leaves no documents', async () => {
  const drawing = gate();
  const documents = {
    ...plainDocuments,
    signed: async (input: Parameters<typeof plainDocuments.signed>[0]) => {
      await drawing.wait();
      return plainDocuments.signed(input);
    },
  };
  const rig = await startRig({ documents });
  const { id } = await rig.create({ sendImmediately: true });
  const signing = rig.control('POST', `/envelopes/${id}/sign`, { all: true });
  await drawing.reached;
  await rig.control('POST', '/reset');
  drawing.release();
  expect(errorIn(await signing).is).toBe('404 NOT_FOUND');
  expect([...rig.objects.stored.keys()]).toEqual([]);
});

/** Blocks the next clearing of a bucket before anything is deleted. */
function held(objects: ObjectWriter) {
  const barrier = gate();
  const clear = objects.clear.bind(objects);
  objects.clear = async (keys) => {
    await barrier.wait();
    await clear(keys);
  };
  return barrier;
}

function gate() {
  let [arrive, release] = [() => {}, () => {}];
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  const wait = () => {
    arrive();
    return opened;
  };
  return { reached, release, wait };
}
