import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  lchown,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { makeSealer, plainPdf, sealed } from '../support/sealing.ts';
import { json, startServer } from '../support/server.ts';
import { giveAway, hasLinks, isRoot } from '../support/system.ts';
import { md5, serve, startBucket, type TestBucket } from '../support/test-bucket.ts';

const PART = 300_000;
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(3 * PART)]);
const other = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(3 * PART)]);
const home = new Home();
let bucket: TestBucket;
let turn = 0;

beforeAll(async () => {
  bucket = await startBucket();
  bucket.put('a.pdf', pdf);
});
afterEach(() => {
  bucket.fault = undefined;
  bucket.put('a.pdf', pdf);
  bucket.seen.length = 0;
});

const download = (words: string, env: Record<string, string> = {}) =>
  home.run(['documents', 'download', ...words.split(' '), '--wait', '0s'], {
    env: { ...bucket.env, ...env },
  });
const newFolder = () => `out-${++turn}`;
const namesIn = async (dir: string) => (await readdir(home.path(dir)).catch(() => [])).sort();
const isSaved = async (dir: string, bytes: Buffer) => (await readFile(home.path(dir, 'a.pdf'))).equals(bytes);
const rangesSeen = () =>
  bucket.seen.map(({ headers }) => [headers.range, headers['if-match'] !== undefined] as const);

/** Breaks the connection after a part of the object, this many times. */
function breakOff(times: number): void {
  bucket.fault = (request, response, object) => {
    if (times-- <= 0) return false;
    serve(request, response, object, PART);
    return true;
  };
}

describe('an interrupted download', () => {
  it('continues at the next byte of the same object, and the whole file is verified', async () => {
    breakOff(2);
    const dir = newFolder();
    const { code, stdout } = await download(`a.pdf --dir ${dir} --json`);
    expect([code, jsonLines(stdout)]).toMatchObject([
      0,
      [{ sha256: createHash('sha256').update(pdf).digest('hex') }],
    ]);
    const [first, ...rest] = rangesSeen();
    expect([first, rest.length]).toEqual([[undefined, false], 2]);
    for (const [range, hasCondition] of rest)
      expect([range, hasCondition]).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/), true]);
    expect(await isSaved(dir, pdf)).toBe(true);
    expect(await namesIn(dir)).toEqual(['SHA256SUMS', 'a.pdf']);
  });

  it.each(['refuses the condition', 'ignores the condition'])(
    'starts over if the object has been replaced, and the bucket %s',
    async (how) => {
      let count = 0;
      bucket.fault = (request, response, object) => {
        const { 'if-match': _, ...headers } = request.headers;
        serve(
          how.startsWith('ignores') ? { ...request, headers } : request,
          response,
          object,
          count++ === 0 ? PART : undefined,
        );
        bucket.put('a.pdf', other);
        return true;
      };
      const dir = newFolder();
      expect((await download(`a.pdf --dir ${dir}`)).code).toBe(0);
      expect(await isSaved(dir, other)).toBe(true);
    },
  );

  it('starts over if the bytes were swapped under the same ETag', async () => {
    let count = 0;
    bucket.fault = (request, response, object) => {
      if (count++ > 0) return false;
      serve(request, response, { ...object, bytes: other }, PART);
      return true;
    };
    const dir = newFolder();
    expect((await download(`a.pdf --dir ${dir}`)).code).toBe(0);
    expect(await isSaved(dir, pdf)).toBe(true);
  });

  it('continues after a stall', async () => {
    let count = 0;
    bucket.fault = (request, response, object) => {
      if (count++ > 0) return false;
      response.writeHead(200, { etag: object.etag, 'content-length': pdf.length });
      response.write(pdf.subarray(0, PART));
      return request.method === 'GET';
    };
    const dir = newFolder();
    expect((await download(`a.pdf --dir ${dir} --timeout 1s`)).code).toBe(0);
    expect(rangesSeen().at(-1)?.[0]).toMatch(/^bytes=[1-9]/);
  });

  it('is continued by the next command after it was stopped', async () => {
    const dir = newFolder();
    const stalled = new Promise<void>((resolve) => {
      bucket.fault = (_, response, object) => {
        response.writeHead(200, { etag: object.etag, 'content-length': pdf.length });
        response.write(pdf.subarray(0, PART), () => resolve());
        return true;
      };
    });
    const running = home.background(['documents', 'download', 'a.pdf', '--dir', dir], { env: bucket.env });
    await stalled;
    // Stopped only after the bytes have arrived.
    while (!(await namesIn(dir)).includes('a.pdf.part')) await new Promise(setImmediate);
    await running.stop();
    bucket.fault = undefined;
    expect(await namesIn(dir)).toContain('a.pdf.part');
    expect((await download(`a.pdf --dir ${dir}`)).code).toBe(0);
    expect(await isSaved(dir, pdf)).toBe(true);
    expect(await namesIn(dir)).toEqual(['SHA256SUMS', 'a.pdf']);
  });
});

describe('a part file of an earlier command', () => {
  it('is not accepted as the object because its seal is intact', async () => {
    const sealer = await makeSealer({ name: 'Service' });
    const [old, now] = ['Rent 100', 'Rent 900'].map((words) => sealed(sealer, plainPdf(words)));
    if (old === undefined || now === undefined) throw new Error('no files');
    expect(old.length).toBe(now.length);
    bucket.put('a.pdf', now, `"${'ab'.repeat(16)}"`);
    const dir = newFolder();
    await mkdir(home.path(dir));
    await writeFile(home.path(dir, 'a.pdf.part'), old);
    expect((await download(`a.pdf --dir ${dir}`)).code).toBe(0);
    expect(await isSaved(dir, now)).toBe(true);
  });

  it('causes an error if it is a folder, and other files are downloaded', async () => {
    const dir = newFolder();
    await mkdir(home.path(dir, 'a.pdf.part'), { recursive: true });
    bucket.put('b.pdf', other);
    const { stdout } = await download(`a.pdf b.pdf --dir ${dir} --json`);
    expect(jsonLines(stdout)).toMatchObject([
      { status: 'failed', error: { code: 'STORAGE_LOCAL' } },
      { status: 'downloaded' },
    ]);
  });
});

describe('a download with wrong bytes', () => {
  type Reply = (response: ServerResponse) => unknown;
  const sent = (bytes: Buffer, headers: Record<string, string>): Reply => {
    return (response) =>
      response.writeHead(200, { 'content-length': String(bytes.length), ...headers }).end(bytes);
  };
  const etag = () => ({ etag: `"${createHash('md5').update(pdf).digest('hex')}"` });
  it.each<[string, Reply]>([
    [
      'with another checksum each time',
      (response) => sent(Buffer.concat([pdf, randomBytes(9)]), etag())(response),
    ],
    ['of a login page', sent(Buffer.from('<html>Sign in</html>'), {})],
    ['without an ETag', sent(pdf, {})],
    ['that is compressed', sent(gzipSync(pdf), etag())],
    [
      'with the framing of its upload',
      sent(Buffer.concat([Buffer.from('1000;chunk-signature=ab\r\n'), pdf]), etag()),
    ],
    ['that is not a PDF', sent(Buffer.from('not a PDF'), { etag: '"x"' })],
    [
      'with another stored checksum',
      sent(pdf, {
        etag: '"x-2"',
        'x-amz-checksum-sha256': createHash('sha256').update(other).digest('base64'),
      }),
    ],
  ])('is refused and leaves no file (%s)', async (_, reply) => {
    bucket.fault = (request, response) => {
      reply(response);
      return request.method === 'GET';
    };
    const dir = newFolder();
    const { code, stdout } = await download(`a.pdf --dir ${dir} --json`);
    expect([code, jsonLines(stdout)]).toMatchObject([9, [{ error: { code: 'STORAGE_CORRUPT' } }]]);
    expect(await namesIn(dir)).toEqual([]);
  });
});

describe('the proof of a download', () => {
  const proofOf = async (dir: string) => {
    const { code, stdout, stderr } = await download(`a.pdf --dir ${dir} --json`);
    const [line] = jsonLines(stdout);
    return { code, proof: isRecord(line) && line.proof, notice: stderr.includes('Verified by') };
  };

  it('is a checksum or the ETag of the bucket', async () => {
    expect(await proofOf(newFolder())).toEqual({ code: 0, proof: 'etag', notice: false });
    const sha256 = createHash('sha256').update(pdf).digest('base64');
    bucket.put('a.pdf', pdf, '"x-2"', { 'x-amz-checksum-sha256': sha256 });
    expect(await proofOf(newFolder())).toEqual({ code: 0, proof: 'checksum', notice: false });
  });

  const OTHER_ETAG = `"${'ab'.repeat(16)}"`;

  it.each(['aws:kms', 'aws:kms:dsse'])(
    'falls back to the size if the bucket reports the encryption %s',
    async (encryption) => {
      bucket.put('a.pdf', pdf, OTHER_ETAG, { 'x-amz-server-side-encryption': encryption });
      const dir = newFolder();
      expect(await proofOf(dir)).toEqual({ code: 0, proof: 'size', notice: true });
      expect((await download(`a.pdf --dir ${dir}`)).stdout).toMatch(/^unchanged/);
    },
  );

  it('is missing if the bytes contradict their ETag each time', async () => {
    const dir = newFolder();
    await download(`a.pdf --dir ${dir}`);
    for (const headers of [{}, { 'x-amz-server-side-encryption': 'AES256' }]) {
      bucket.put('a.pdf', pdf, OTHER_ETAG, headers);
      for (const place of [newFolder(), dir])
        expect(await proofOf(place)).toEqual({ code: 9, proof: null, notice: false });
    }
  });

  it('is the seal or the size where a sealed file shows that the ETags are not MD5s', async () => {
    bucket.put('a.pdf', sealed(await makeSealer({ name: 'Service' })), OTHER_ETAG);
    expect(await proofOf(newFolder())).toMatchObject({ code: 0, proof: 'seal' });
    expect(bucket.seen).toHaveLength(1);
    bucket.put('b.pdf', pdf, OTHER_ETAG);
    for (const keys of ['b.pdf a.pdf', 'a.pdf b.pdf']) {
      const { code, stdout } = await download(`${keys} --dir ${newFolder()} --json`);
      const proofs = jsonLines(stdout).map((line) => isRecord(line) && [line.key, line.proof].join(' '));
      expect([code, proofs.sort()]).toEqual([0, ['a.pdf seal', 'b.pdf size']]);
    }
    bucket.put('c.pdf', other, OTHER_ETAG);
    expect((await download(`b.pdf c.pdf --dir ${newFolder()}`)).code).toBe(9);
  });
});

describe('the folder of a download', () => {
  it('is never left, for any key', async () => {
    const top = await namesIn('.');
    bucket.fault = (request, response) => {
      serve(request, response, { bytes: pdf, etag: md5(pdf), headers: {} });
      return true;
    };
    const keys = ['../../../etc/passwd', 'a/../../x.pdf', '/etc/y.pdf', '..\\\\z.pdf', '../..'];
    for (const key of keys) await download(`${key} --dir inside --name-template {key}`);
    expect((await namesIn('.')).filter((name) => !top.includes(name))).toEqual(['inside']);
    expect((await readdir(home.path('inside'), { recursive: true })).length).toBeGreaterThan(4);
  });

  it('is never left through a link in it', async () => {
    await mkdir(home.path('linked'));
    await mkdir(home.path('outside'));
    await symlink('../outside', home.path('linked', 'k'));
    bucket.put('k/a.pdf', pdf);
    const { code, stderr } = await download('k/a.pdf --dir linked --name-template {key}');
    expect([code, stderr]).toEqual([9, expect.stringContaining('a symbolic link')]);
    await symlink('../outside/b.pdf', home.path('linked', 'a.pdf.part'));
    expect((await download('a.pdf --dir linked')).code).toBe(9);
    expect(await readdir(home.path('outside'))).toEqual([]);
  });

  it.runIf(hasLinks)('never continues a part that somebody else could write to', async () => {
    const dir = newFolder();
    await mkdir(home.path(dir));
    const part = home.path(dir, 'a.pdf.part');
    const planted: (() => Promise<void>)[] = [
      async () => {
        await writeFile(home.path(dir, 'theirs'), pdf.subarray(0, PART));
        await link(home.path(dir, 'theirs'), part);
      },
    ];
    if (isRoot)
      planted.push(async () => {
        await writeFile(part, pdf.subarray(0, PART), { mode: 0o666 });
        await giveAway(part);
      });
    for (const plant of planted) {
      await plant();
      expect((await download(`a.pdf --dir ${dir} --force`)).code).toBe(0);
      expect(await stat(home.path(dir, 'a.pdf'))).toMatchObject({ uid: process.geteuid?.(), nlink: 1 });
      expect(await isSaved(dir, pdf)).toBe(true);
      await rm(home.path(dir, 'a.pdf'));
    }
    expect(await readFile(home.path(dir, 'theirs'))).toHaveLength(PART);
  });

  it.runIf(isRoot)("is not left through another user's link to the same bytes", async () => {
    const dir = newFolder();
    await mkdir(home.path(dir));
    await writeFile(home.path('theirs.pdf'), pdf);
    await symlink('../theirs.pdf', home.path(dir, 'a.pdf'));
    expect((await download(`a.pdf --dir ${dir}`)).stdout).toMatch(/^unchanged/);
    await lchown(home.path(dir, 'a.pdf'), 4_321, 4_321);
    expect((await download(`a.pdf --dir ${dir}`)).code).toBe(9);
    expect((await download(`a.pdf --dir ${dir} --force`)).code).toBe(0);
    expect((await lstat(home.path(dir, 'a.pdf'))).isSymbolicLink()).toBe(false);
  });

  it.runIf(hasLinks)('has a lock that is never read through a link', async () => {
    const dir = newFolder();
    await mkdir(home.path(dir));
    await symlink('/etc/passwd', home.path(dir, '.esign.lock'));
    const { code, stderr } = await download(`a.pdf --dir ${dir}`);
    expect([code, stderr]).toEqual([9, expect.stringContaining('a symbolic link')]);
  });

  it('is used by one command at a time; a second one waits', async () => {
    bucket.put('b.pdf', other);
    const dir = newFolder();
    const asked: string[] = [];
    let release = () => undefined as unknown;
    const started = new Promise<void>((resolve) => {
      bucket.fault = (request, response, object) => {
        asked.push(request.path);
        if (!request.path.endsWith('a.pdf')) return false;
        release = () => serve(request, response, object);
        resolve();
        return true;
      };
    });
    const first = home.background(['documents', 'download', 'a.pdf', '--dir', dir], { env: bucket.env });
    await started;
    const second = home.start(['documents', 'download', 'b.pdf', '--dir', dir], { env: bucket.env });
    await second.says(/Waiting for another esign process/);
    expect(asked).toEqual(['/b/a.pdf']);
    release();
    expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
    expect(await namesIn(dir)).toEqual(['SHA256SUMS', 'a.pdf', 'b.pdf']);
  });

  it('is refused before anything is downloaded if its list is a folder', async () => {
    await mkdir(home.path('listed', 'SHA256SUMS'), { recursive: true });
    const { code, stderr } = await download('a.pdf --dir listed');
    expect([code, stderr]).toEqual([2, expect.stringContaining('it is a folder')]);
    expect(bucket.seen).toEqual([]);
  });

  it("doesn't block with a named pipe in place of the file", async () => {
    await mkdir(home.path('piped'));
    execFileSync('mkfifo', [home.path('piped', 'a.pdf')]);
    const { code, stderr } = await download('a.pdf --dir piped');
    expect([code, stderr]).toEqual([9, expect.stringContaining('not a regular file')]);
  });

  it('is repaired by the next command if its list was lost', async () => {
    bucket.put('b.pdf', other);
    await download('a.pdf --dir again');
    await writeFile(home.path('again', 'SHA256SUMS'), '');
    const { code, stdout } = await download('a.pdf b.pdf --dir again --json');
    const statuses = jsonLines(stdout).map((line) => isRecord(line) && line.status);
    expect([code, statuses]).toEqual([0, ['unchanged', 'downloaded']]);
    expect(await readFile(home.path('again', 'SHA256SUMS'), 'utf8')).toMatch(/a\.pdf\n.*b\.pdf\n/);
  });
});

describe('a document that does not exist yet', () => {
  it('does not replace another one, if their envelopes get the same values in the meantime', async () => {
    const seen = new Set<string>();
    const api = await startServer(async (request, response) => {
      const id = request.path.split('/').at(-1) ?? '';
      const late = seen.has(id)
        ? { subject: 'Lease', signedDocumentStorageKey: `${id}.pdf` }
        : { subject: id };
      // The second envelope changes once the file of the first one is saved.
      if (id === 'env_2' && seen.has(id))
        await eventually(async () => expect(await namesIn('same')).toContain('Lease.pdf'));
      seen.add(id);
      json(response, 200, { success: true, data: { id, status: 'COMPLETED', ...late } });
    });
    bucket.put('env_1.pdf', pdf);
    bucket.put('env_2.pdf', other);
    const env = { ...bucket.env, ESIGN_BASE_URL: api.origin };
    const words =
      'envelopes download env_1 env_2 --what signed --dir same --force --json --name-template {subject}.pdf';
    const { code, stdout } = await home.run(words.split(' '), { env });
    expect([code, jsonLines(stdout)]).toMatchObject([
      10,
      [{ status: 'downloaded' }, { path: null, error: { code: 'STORAGE_LOCAL' } }],
    ]);
    expect((await readFile(home.path('same', 'Lease.pdf'))).equals(pdf)).toBe(true);
  });

  it('is awaited: first its key, then its object', async () => {
    let reads = 0;
    const api = await startServer((_, response) => {
      const signedDocumentStorageKey = ++reads === 1 ? null : 'late.pdf';
      json(response, 200, {
        success: true,
        data: { id: 'env_1', status: 'COMPLETED', signedDocumentStorageKey },
      });
    });
    let requests = 0;
    bucket.put('late.pdf', pdf);
    bucket.fault = (_, response) => {
      if (++requests > 1) return false;
      response.writeHead(404).end();
      return true;
    };
    const env = { ...bucket.env, ESIGN_BASE_URL: api.origin };
    const words = 'envelopes download env_1 --what signed --dir late --wait 60s';
    const { code, stderr } = await home.run(words.split(' '), { env });
    expect([code, stderr, reads, requests]).toEqual([
      0,
      expect.stringContaining('is not ready yet. Waiting up to 60 seconds.'),
      2,
      2,
    ]);
  });
});
