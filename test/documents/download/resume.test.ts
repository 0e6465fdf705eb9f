import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import { streamObject } from '../../../src/documents/download/fetch.ts';
import { fileOfKey } from '../../../src/documents/download/targets.ts';
import { fakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { type SeenRequest, startServer, type TestServer } from '../../support/server.ts';
import { downloadOne } from './download-one.ts';

const SIZE = 3_000_000;
const pdf = (fill: string) => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(SIZE, fill)]);
const first = pdf('abcdefg');
const second = pdf('hijklmn');
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const wanted = fileOfKey('esign/envelopes/org_1/env_1/signed.pdf');

let dir: string;
let server: TestServer;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-resume-'));
});
afterEach(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

interface ResponseOutcome {
  body?: Buffer;
  /** Closes the connection after this many bytes of this response. */
  dropAfter?: number;
  /** Stops sending after this many bytes, and keeps the connection open. */
  stallAfter?: number;
  etag?: string;
  ignoresRange?: boolean;
  ignoresIfMatch?: boolean;
  headers?: Record<string, string>;
}

/** A bucket with one object that follows the protocol as far as `answer` specifies. */
function reply(request: SeenRequest, response: ServerResponse, answer: ResponseOutcome): void {
  const { body = first } = answer;
  const etag = answer.etag ?? `"${md5(body)}"`;
  const wantedTag = request.headers['if-match'];
  if (wantedTag !== undefined && wantedTag !== etag && !answer.ignoresIfMatch) {
    response.writeHead(412).end();
    return;
  }
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  const from = range && !answer.ignoresRange ? Number(range[1]) : 0;
  const part = body.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, {
    'content-length': String(part.byteLength),
    etag,
    ...(from > 0 ? { 'content-range': `bytes ${from}-${body.byteLength - 1}/${body.byteLength}` } : {}),
    ...answer.headers,
  });
  const cut = answer.dropAfter ?? answer.stallAfter;
  if (cut === undefined) response.end(part);
  else response.write(part.subarray(0, cut), () => answer.stallAfter === undefined && response.destroy());
}

async function fetchFrom(answers: ResponseOutcome[], options: { stallMs?: number; force?: boolean } = {}) {
  server = await startServer((request, response, number) =>
    reply(request, response, answers[Math.min(number, answers.length) - 1] ?? {}),
  );
  return again(options);
}

async function again(options: { stallMs?: number; force?: boolean } = {}) {
  const bucket = await openBucket(
    { bucket: 'b', endpoint: server.origin, accessKeyId: 'AKID', secretAccessKey: 'secret' },
    { timeoutMs: options.stallMs ?? 10_000 },
  );
  try {
    return await downloadOne(bucket, wanted, { dir, force: options.force ?? false });
  } finally {
    bucket.close();
  }
}

const ranges = () => server.seen.map((request) => request.headers.range);
const target = () => join(dir, 'env_1.signed.pdf');

describe('an interrupted body', () => {
  it('resumes at the last byte, on the same object, as often as needed', async () => {
    const result = await fetchFrom([
      { dropAfter: 1_000_000 },
      { dropAfter: 700_000 },
      { dropAfter: 400_000 },
      {},
    ]);
    expect(result).toMatchObject({ status: 'downloaded', bytes: first.byteLength, sha256: sha256(first) });
    const froms = ranges().map((range) => Number(/\d+/.exec(range ?? '')?.[0] ?? 0));
    expect(froms).toEqual([...froms].sort((a, b) => a - b));
    expect(froms.at(-1)).toBeGreaterThan(1_000_000);
    expect(server.seen.slice(1).map((request) => request.headers['if-match'])).toEqual(
      server.seen.slice(1).map(() => `"${md5(first)}"`),
    );
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });

  it('also resumes after a stall', async () => {
    const result = await fetchFrom([{ stallAfter: 500_000 }, {}], { stallMs: 1_000 });
    expect(result.sha256).toBe(sha256(first));
    // On a slow machine, the second one can stall, too.
    expect(server.seen.length).toBeGreaterThanOrEqual(2);
  });

  it('restarts if the object has been replaced', async () => {
    const result = await fetchFrom([{ dropAfter: 1_000_000 }, { body: second }]);
    expect(result.sha256).toBe(sha256(second));
  });

  it.each<[string, ResponseOutcome]>([
    ['ignores If-Match', { body: second, ignoresIfMatch: true }],
    ['ignores Range', { ignoresRange: true }],
  ])('restarts if the bucket %s', async (_, answer) => {
    const result = await fetchFrom([{ dropAfter: 1_000_000 }, answer]);
    expect(result.sha256).toBe(sha256(answer.body ?? first));
  });

  it('is reported as unreachable, not corrupt, if a bucket without Range keeps disconnecting', async () => {
    const drops = Array.from({ length: 30 }, () => ({ dropAfter: 1_000_000, ignoresRange: true }));
    await expect(fetchFrom(drops)).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
  });

  it('is fetched from scratch if the bucket swaps the bytes under the same ETag', async () => {
    const etag = `"${md5(second)}"`;
    const result = await fetchFrom([
      { dropAfter: 1_000_000, etag },
      { body: second, etag },
    ]);
    expect(result.sha256).toBe(sha256(second));
  });

  it('stops after attempts without progress, and the next run resumes', async () => {
    const drops = [{ dropAfter: 2_000_000 }, ...Array.from({ length: 30 }, () => ({ dropAfter: 0 }))];
    await expect(fetchFrom([...drops])).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
    expect((await readdir(dir)).sort()).toEqual(['env_1.signed.pdf.part', 'env_1.signed.pdf.part.json']);
    await server.close();
    expect(await fetchFrom([{}])).toMatchObject({ status: 'downloaded', sha256: sha256(first) });
    expect(Number(/\d+/.exec(ranges()[0] ?? '')?.[0])).toBeGreaterThan(1_000_000);
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });
});

describe('a process killed during a stalled download', () => {
  const small = first.subarray(0, 50_000);
  const left = () => Promise.all(['part', 'part.json'].map((end) => readFile(`${target()}.${end}`)));

  it.each([
    ['whose ETag is its MD5', `"${md5(small)}"`],
    ['uploaded in parts', '"0123456789abcdef0123456789abcdef-3"'],
  ])('leaves the received bytes of a small object %s to the next run', async (_, etag) => {
    const stalled = fetchFrom([{ body: small, etag, stallAfter: 20_000 }]);
    stalled.catch(() => undefined);
    const [part, note] = await eventually(async () => {
      const files = await left();
      expect(files[0]).toHaveLength(20_000);
      return files;
    });
    await server.close();
    await expect(stalled).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
    await writeFile(`${target()}.part`, part ?? '');
    await writeFile(`${target()}.part.json`, note ?? '');
    expect(await fetchFrom([{ body: small, etag }])).toMatchObject({ status: 'downloaded', bytes: 50_000 });
    expect(ranges()).toEqual(['bytes=20000-']);
    expect(server.seen[0]?.headers['if-match']).toBe(etag);
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });
});

describe('a part file of an earlier run', () => {
  const leave = async (bytes: Buffer, note: object) => {
    await writeFile(`${target()}.part`, bytes);
    await writeFile(`${target()}.part.json`, JSON.stringify(note));
  };
  const noteOf = (object: Buffer) => ({
    bucket: 'b',
    key: wanted.key,
    size: object.byteLength,
    etag: `"${md5(object)}"`,
    md5: md5(object),
  });

  it('is resumed, and the whole file is hashed', async () => {
    await leave(first.subarray(0, 1_500_000), noteOf(first));
    expect((await fetchFrom([{}])).sha256).toBe(sha256(first));
    expect(ranges()).toEqual(['bytes=1500000-']);
  });

  it('is checked against the bucket before it gets its name, if it is complete', async () => {
    await leave(first, noteOf(first));
    expect((await fetchFrom([{}])).sha256).toBe(sha256(first));
    expect(ranges()).toEqual([`bytes=${first.byteLength - 1}-`]);
    await rm(target());
    await leave(first, noteOf(first));
    await server.close();
    expect((await fetchFrom([{ body: second }])).sha256).toBe(sha256(second));
  });

  it.each<[string, Buffer]>([
    ['zeros after a power outage', Buffer.alloc(1_500_000)],
    ['bytes of another object', second.subarray(0, 1_500_000)],
    ['more bytes than the object has', Buffer.concat([first, second])],
  ])('is fetched from scratch with %s', async (_, bytes) => {
    await leave(bytes, noteOf(first));
    expect((await fetchFrom([{}])).sha256).toBe(sha256(first));
    expect((await stat(target())).size).toBe(first.byteLength);
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });

  it.each<[string, object]>([
    ['for another key', { ...noteOf(first), key: 'other.pdf' }],
    ['that is damaged', { size: 'x' }],
  ])('is not resumed with a note that is %s', async (_, note) => {
    await leave(first.subarray(0, 1_500_000), note);
    expect((await fetchFrom([{}])).sha256).toBe(sha256(first));
    expect(ranges()).toEqual([undefined]);
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });
});

describe('an object uploaded in parts, without a checksum in the bucket', () => {
  const etag = '"0123456789abcdef0123456789abcdef-3"';
  const big = Buffer.concat([first, first, first, first]);
  /** A run that gets most of it, and ends. */
  const begin = async (more: ResponseOutcome = {}) => {
    const drops = Array.from({ length: 30 }, () => ({ body: big, etag, dropAfter: 0, ...more }));
    const run = fetchFrom([{ body: big, etag, dropAfter: 9_000_000, ...more }, ...drops]);
    await expect(run).rejects.toMatchObject({ code: 'STORAGE_UNREACHABLE' });
    await server.close();
  };
  const finish = () => fetchFrom([{ body: big, etag }]);
  const whole = { status: 'downloaded', bytes: big.byteLength, sha256: sha256(big) };

  it('is resumed by the next run, with the same ETag', async () => {
    await begin();
    expect(await finish()).toMatchObject(whole);
    expect(server.seen).toHaveLength(1);
    expect(Number(/\d+/.exec(ranges()[0] ?? '')?.[0])).toBeGreaterThan(4_000_000);
    expect(server.seen[0]?.headers['if-match']).toBe(etag);
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });

  it('is resumed from the last checkpoint after a kill', async () => {
    await begin();
    const note = await readFile(`${target()}.part.json`, 'utf8');
    // A kill leaves no final note, and may truncate one.
    await writeFile(`${target()}.part.json`, `${note.split('\n').slice(0, -2).join('\n')}\n{"bytes":99`);
    expect(await finish()).toMatchObject(whole);
    const from = Number(/\d+/.exec(ranges()[0] ?? '')?.[0]);
    expect(from).toBeGreaterThanOrEqual(4 * 1024 * 1024);
    expect(from).toBeLessThan(9_000_000);
  });

  it('is fetched from scratch if the disk lost received bytes', async () => {
    await begin();
    const part = await readFile(`${target()}.part`);
    await writeFile(`${target()}.part`, part.fill(0, 1_000_000, 1_001_000));
    expect(await finish()).toMatchObject(whole);
    expect(ranges()).toEqual([undefined]);
  });

  it('is fetched from scratch if the object has been replaced', async () => {
    await begin();
    const other = '"fedcba9876543210fedcba9876543210-3"';
    expect(await fetchFrom([{ body: second, etag: other }])).toMatchObject({ sha256: sha256(second) });
  });

  it('is not resumed with a weak ETag, which several contents may share', async () => {
    await begin({ etag: 'W/"weak"' });
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('the verification of a resumed file', () => {
  const crc = (bytes: Uint8Array) => {
    const word = Buffer.alloc(4);
    word.writeUInt32BE(crc32(bytes));
    return word.toString('base64');
  };

  it('uses the checksum if the ETag is not an MD5', async () => {
    const headers = { 'x-amz-checksum-crc32': crc(first), 'x-amz-checksum-type': 'FULL_OBJECT' };
    const etag = '"0123456789abcdef0123456789abcdef-3"';
    const result = await fetchFrom([{ dropAfter: 1_000_000, etag, headers }, { etag }]);
    expect(result.sha256).toBe(sha256(first));
    await rm(target());
    await server.close();
    const wrong = { 'x-amz-checksum-crc32': crc(second) };
    await expect(
      fetchFrom([
        { dropAfter: 1_000_000, etag, headers: wrong },
        { etag, headers: wrong },
      ]),
    ).rejects.toMatchObject({
      code: 'STORAGE_CORRUPT',
    });
    expect(await readdir(dir)).toEqual([]);
  });

  it("doesn't use the ETag of an object encrypted with its own key", async () => {
    const headers = { 'x-amz-server-side-encryption': 'aws:kms' };
    const result = await fetchFrom([{ etag: '"0123456789abcdef0123456789abcdef"', headers }]);
    expect(result.sha256).toBe(sha256(first));
  });
});

describe('an existing file', () => {
  it('is compared without fetching its body', async () => {
    await writeFile(target(), first);
    server = await startServer((request, response) => {
      const same = request.headers['if-none-match'] === `"${md5(first)}"`;
      if (same) response.writeHead(304, { etag: `"${md5(first)}"` }).end();
      else reply(request, response, { body: second });
    });
    expect(await again()).toMatchObject({ status: 'unchanged', sha256: sha256(first) });
    await truncate(target(), 100);
    await expect(again()).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    expect((await stat(target())).size).toBe(100);
    expect(await again({ force: true })).toMatchObject({ status: 'downloaded' });
    expect(sha256(await readFile(target()))).toBe(sha256(second));
  });
});

describe('a stream', () => {
  const stream = async () => {
    const bucket = await openBucket({
      bucket: 'b',
      endpoint: server.origin,
      accessKeyId: 'A',
      secretAccessKey: 's',
    });
    const chunks: Uint8Array[] = [];
    const write = (chunk: Uint8Array) => Promise.resolve(void chunks.push(chunk));
    try {
      return {
        ...(await streamObject(bucket, wanted.key, write, { clock: fakeClock() })),
        got: sha256(Buffer.concat(chunks)),
      };
    } finally {
      bucket.close();
    }
  };

  it('resumes after a disconnect like a file', async () => {
    server = await startServer((request, response, number) =>
      reply(request, response, number === 1 ? { dropAfter: 1_000_000 } : {}),
    );
    expect(await stream()).toMatchObject({ sha256: sha256(first), got: sha256(first) });
  });

  it('fails if the object changes after its first bytes were written', async () => {
    server = await startServer((request, response, number) =>
      reply(request, response, number === 1 ? { dropAfter: 1_000_000 } : { body: second }),
    );
    await expect(stream()).rejects.toMatchObject({ code: 'STORAGE_CORRUPT' });
  });
});
