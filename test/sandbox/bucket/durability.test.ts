import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/kernel/errors.ts';
import {
  encodeFacts,
  ObjectStore,
  type StoredObjectFacts,
} from '../../../src/sandbox/bucket/object-store.ts';
import { startBucket } from '../../../src/sandbox/bucket/server.ts';
import { eventually } from '../../support/eventually.ts';
import { BUCKET, bytes, owner, REGION, send, signed, startRig } from './rig.ts';
import { sha256 } from './witness.ts';

const Bucket = BUCKET;
const facts = (key: string): StoredObjectFacts => ({
  key,
  size: 3,
  etag: sha256(key).slice(0, 32),
  contentType: 'text/plain',
  metadata: {},
  headers: {},
  modifiedAt: '2026-01-01T00:00:00.000Z',
  checksums: {},
});

describe('a restart', () => {
  it('keeps buckets, objects, and their metadata', async () => {
    const rig = await startRig();
    const put = signed(rig.endpoint, {
      method: 'PUT',
      path: `${BUCKET}/été`,
      body: 'body',
      headers: { 'content-type': 'text/x', 'x-amz-meta-a': 'b', 'cache-control': 'no-store' },
    });
    await send(rig.endpoint, put);
    const read = async () => {
      const { headers, body } = await send(rig.endpoint, signed(rig.endpoint, { path: `${BUCKET}/été` }));
      const { date: _, 'x-amz-request-id': __, ...kept } = headers;
      const list = await rig.client().send(new ListObjectsV2Command({ Bucket }));
      return { kept, body: body.toString(), contents: list.Contents };
    };
    const before = await read();
    await rig.restart();
    expect(await read()).toEqual(before);
    expect(before.body).toBe('body');
  });

  it('deletes the files of an interrupted upload, and nothing else', async () => {
    const rig = await startRig();
    const folder = join(rig.dir, BUCKET);
    await writeFile(join(folder, '.0123456789abcdef.tmp'), 'half');
    await writeFile(join(folder, '.DS_Store'), 'x');
    await writeFile(join(folder, 'Thumbs.db'), 'x');
    await rig.restart();
    expect(await readdir(folder)).toEqual(['.DS_Store', 'Thumbs.db']);
    expect((await rig.client().send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
  });

  it('reports a damaged object file', async () => {
    const rig = await startRig();
    const path = join(rig.dir, BUCKET, sha256('k'));
    for (const damaged of [
      '',
      'x',
      'not an object file',
      Buffer.concat([bytes(2), encodeFacts(facts('k'))]),
    ]) {
      await writeFile(path, damaged);
      await expect(ObjectStore.open(join(rig.dir, BUCKET), Date.now)).rejects.toThrow(UsageError);
    }
    await rm(path);
  });

  it('fails with the system’s error on a port in use', async () => {
    const rig = await startRig();
    const port = Number(new URL(rig.endpoint).port);
    const again = startBucket({
      dir: rig.dir,
      host: '127.0.0.1',
      port,
      region: REGION,
      bucket: BUCKET,
      ...owner,
      now: () => Date.now(),
    });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('10,000 objects', () => {
  const keys = Array.from(
    { length: 10_000 },
    (_, at) => `k/${(at * 7_919) % 10_000}${at % 3 ? '' : '/é\u{1F58B}'}`,
  );
  const inOrder = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

  it('are found again after a restart and listed in byte order', { tags: ['full'] }, async () => {
    const rig = await startRig();
    const folder = join(rig.dir, BUCKET);
    for (let at = 0; at < keys.length; at += 200) {
      await Promise.all(
        keys
          .slice(at, at + 200)
          .map((key) =>
            writeFile(
              join(folder, sha256(key)),
              Buffer.concat([Buffer.from('abc'), encodeFacts(facts(key))]),
            ),
          ),
      );
    }
    await rig.restart();
    const client = rig.client();
    const seen: unknown[] = [];
    for (let ContinuationToken: string | undefined, first = true; first || ContinuationToken; first = false) {
      const page = await client.send(new ListObjectsV2Command({ Bucket, ContinuationToken }));
      seen.push(...(page.Contents ?? []).map(({ Key }) => Key));
      ContinuationToken = page.NextContinuationToken;
    }
    expect(seen).toEqual(inOrder);
    const got = await send(rig.endpoint, signed(rig.endpoint, { path: `${BUCKET}/${keys[5_000]}` }));
    expect(got.body.toString()).toBe('abc');
  });
});

describe('uploads to one key', () => {
  it('never mix when they run at the same time: bytes, ETag, and metadata come from one of them', async () => {
    const rig = await startRig();
    const bodies = Array.from({ length: 12 }, (_, at) => Buffer.alloc(150_000 + at, 65 + at));
    const puts = { areDone: false };
    const read = async () => {
      const { status, body, headers } = await send(
        rig.endpoint,
        signed(rig.endpoint, { path: `${BUCKET}/k` }),
      );
      if (status === 404) return;
      const at = (body[0] ?? 0) - 65;
      expect(body.equals(bodies[at] ?? Buffer.alloc(0))).toBe(true);
      expect(headers['x-amz-meta-at']).toBe(String(at));
    };
    const replies = Promise.all(
      bodies.map((body, at) => {
        const headers = { 'x-amz-meta-at': String(at) };
        return send(
          rig.endpoint,
          signed(rig.endpoint, { method: 'PUT', path: `${BUCKET}/k`, body, headers }),
        );
      }),
    ).finally(() => {
      puts.areDone = true;
    });
    while (!puts.areDone) await read();
    expect((await replies).map(({ status }) => status)).toEqual(bodies.map(() => 200));
    await read();
    const head = await rig.client().send(new HeadObjectCommand({ Bucket, Key: 'k' }));
    const list = await rig.client().send(new ListObjectsV2Command({ Bucket }));
    expect(list.Contents).toMatchObject([{ Key: 'k', ETag: head.ETag, Size: head.ContentLength }]);
  });

  it('leave the old object and no trace when they are interrupted', async () => {
    const rig = await startRig();
    await rig.server.objects.put('k', Buffer.from('old'), 'text/plain');
    const before = await rig.tree();
    const body = bytes(1_000_000);
    const { headers, target } = signed(rig.endpoint, { method: 'PUT', path: `${BUCKET}/k`, body });
    const { hostname, port } = new URL(rig.endpoint);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
    socket.write(`PUT ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.write(body.subarray(0, 600_000));
    // The upload is in progress once its temporary file exists.
    await eventually(async () => expect(await rig.tree()).not.toEqual(before));
    socket.resetAndDestroy();
    await eventually(async () => expect(await rig.tree()).toEqual(before));
    expect((await rig.server.objects.get('k'))?.toString()).toBe('old');
  });

  it('are interrupted by a close, which waits until they are cleaned up', async () => {
    const rig = await startRig();
    const before = await rig.tree();
    const { hostname, port } = new URL(rig.endpoint);
    const uploads = Array.from({ length: 40 }, (_, at) => {
      const wanted = { method: 'PUT', path: `${BUCKET}/${at}`, body: bytes(9_000) };
      const { headers, target } = signed(rig.endpoint, wanted);
      const request = httpRequest({ hostname, port, method: 'PUT', path: target, headers, agent: false });
      request.write(bytes(1_000));
      return once(request, 'error');
    });
    const all = before.length + uploads.length;
    await eventually(async () => expect(await rig.tree()).toHaveLength(all));
    await rig.server.close();
    expect(readdirSync(join(rig.dir, BUCKET))).toEqual([]);
    await Promise.all(uploads);
  });
});

it("a reader who doesn't read blocks the file, not the memory", async () => {
  const rig = await startRig();
  const body = Buffer.alloc(64 * 1024 * 1024, 'x');
  await rig.server.objects.put('k', body, 'text/plain');
  const { headers, target } = signed(rig.endpoint, { path: `${BUCKET}/k` });
  const { hostname, port } = new URL(rig.endpoint);
  const before = process.memoryUsage().arrayBuffers;
  const received = await new Promise<number>((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: target, headers }, (response) => {
      void (async () => {
        await once(response, 'readable');
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
        let size = 0;
        for await (const chunk of response) if (Buffer.isBuffer(chunk)) size += chunk.length;
        resolve(size);
      })().catch(reject);
    });
    request.on('error', reject).end();
  });
  expect(received).toBe(body.length);
});
