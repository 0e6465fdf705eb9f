import crypto from 'node:crypto';
import fs, {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DownloadFolder } from '../../../src/documents/archive/download-folder.ts';
import type { Opened } from '../../../src/documents/bucket/object.ts';
import { type DownloadOptions, downloadFile } from '../../../src/documents/download/file.ts';
import type { DocumentFile } from '../../../src/documents/download/locate.ts';
import { fileOfKey } from '../../../src/documents/download/targets.ts';
import { StorageError } from '../../../src/kernel/errors.ts';
import { fakeClock } from '../../support/clock.ts';
import { openFilesIn } from '../../support/open-files.ts';
import { hasLinks } from '../../support/system.ts';
import { bucketWith, factsFor, type Response, sha256 } from './memory-bucket.ts';

const TEXT = 'text of the object';
const OTHER = 'same length, other';
const lost = new StorageError('STORAGE_UNREACHABLE', 'The bucket did not respond.');
/** An object that was uploaded in parts: nothing in the response proves the content. */
const inParts = (text: string): Response => ({
  text,
  facts: factsFor(text, { md5: undefined, etag: '"0-2"' }),
});

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-save-'));
  path = join(dir, 'a.txt');
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(dir, { recursive: true, force: true });
});

/** Downloads the object in a separate run, from a bucket with these responses. */
async function save(
  answers: (Response | Opened | Error)[],
  options: Partial<DownloadOptions> = {},
  file: DocumentFile = fileOfKey('a.txt'),
) {
  const { bucket, requests, cancelled } = bucketWith(...answers);
  const clock = fakeClock();
  const folder = await DownloadFolder.open(dir, { hasList: true, clock });
  const progress = { begun: 0, expected: 0, bytes: 0 };
  const outcome = await downloadFile(bucket, file, {
    folder,
    force: false,
    clock,
    progress,
    ...options,
  }).catch((error: unknown) => error);
  await folder.close();
  return { outcome, requests, cancelled, progress };
}

const files = () =>
  readdirSync(dir)
    .filter((name) => name !== 'SHA256SUMS')
    .sort();
const openFiles = () => openFilesIn(dir);
const forbidMd5 = () => {
  vi.spyOn(crypto, 'getFips').mockReturnValue(1);
  syncBuiltinESMExports();
};
const local = { code: 'STORAGE_LOCAL' };

describe('the ETag of a file', () => {
  it('is its MD5, and is not recorded', async () => {
    await save([{ text: TEXT }]);
    expect(files()).toEqual(['a.txt']);
    const { outcome, requests } = await save([{ kind: 'same' }]);
    expect(outcome).toMatchObject({ result: { status: 'unchanged', sha256: sha256(TEXT) } });
    expect(requests).toMatchObject([{ ifNoneMatch: factsFor(TEXT).etag }]);
  });

  it('is recorded if it is not an MD5', async () => {
    await save([inParts(TEXT)]);
    expect(files()).toContain('.esign-etags.json');
    const { outcome, requests } = await save([{ kind: 'same' }]);
    expect(outcome).toMatchObject({ result: { status: 'unchanged' } });
    expect(requests).toMatchObject([{ ifNoneMatch: '"0-2"' }]);
  });

  it('is unknown in FIPS mode unless it was recorded', async () => {
    forbidMd5();
    writeFileSync(path, TEXT);
    const first = await save([inParts(TEXT)]);
    expect(first.outcome).toMatchObject({ result: { status: 'unchanged', proof: 'size' } });
    expect(first.requests[0]?.ifNoneMatch).toBeUndefined();
    expect((await save([{ kind: 'same' }])).requests).toMatchObject([{ ifNoneMatch: '"0-2"' }]);
  });
});

describe('a document that was deleted after it was listed', () => {
  const file: DocumentFile = { ...fileOfKey('a.txt'), envelopeId: 'env_1', what: 'signed' };
  const list = () => readFileSync(join(dir, 'SHA256SUMS'), 'utf8');

  it('is refused if it has changed in the bucket, unless forced', async () => {
    await save([{ text: TEXT }], {}, file);
    rmSync(path);
    const before = list();
    expect((await save([{ text: OTHER }], {}, file)).outcome).toMatchObject(local);
    expect([files(), list()]).toEqual([[], before]);
    const { outcome } = await save([{ text: TEXT }], {}, file);
    expect(outcome).toMatchObject({ result: { status: 'downloaded' } });
    rmSync(path);
    await save([{ text: OTHER }], { force: true }, file);
    expect(list()).toBe(`${sha256(OTHER)}  a.txt\n`);
  });
});

describe('an existing file', () => {
  const weak = (text: string): Response => ({
    text,
    facts: factsFor(text, { md5: undefined, etag: 'W/"1"' }),
  });

  it('is compared by its bytes if the ETag is weak', async () => {
    await save([weak(TEXT)]);
    const { outcome, requests } = await save([weak(OTHER)], { force: true });
    expect(requests).toMatchObject([{ ifNoneMatch: factsFor(TEXT).etag }]);
    expect(outcome).toMatchObject({ result: { status: 'downloaded', sha256: sha256(OTHER) } });
  });

  it.runIf(hasLinks)('is not replaced if it is a link to a missing file', async () => {
    symlinkSync('missing.txt', path);
    expect((await save([{ text: TEXT }])).outcome).toMatchObject(local);
    expect(readlinkSync(path)).toBe('missing.txt');
    expect((await save([{ text: TEXT }], { force: true })).outcome).toMatchObject({
      result: { status: 'downloaded' },
    });
  });

  it.each([
    ['the same', TEXT, { result: { status: 'unchanged' } }],
    ['a different', OTHER, local],
  ])('is compared with %s object if the bucket refuses the condition', async (_, text, expected) => {
    writeFileSync(path, TEXT);
    const { outcome } = await save([{ kind: 'changed' }, inParts(text)]);
    expect(outcome).toMatchObject(expected);
    expect(readFileSync(path, 'utf8')).toBe(TEXT);
  });
});

describe('a new file', () => {
  it('that is not a PDF has no seal', async () => {
    const { outcome, progress } = await save([{ text: TEXT }]);
    expect(outcome).toEqual({
      result: {
        envelopeId: null,
        what: null,
        key: 'a.txt',
        path,
        bytes: TEXT.length,
        sha256: sha256(TEXT),
        status: 'downloaded',
        error: null,
      },
      seal: null,
    });
    expect(progress).toEqual({ begun: 1, expected: TEXT.length, bytes: TEXT.length });
    if (existsSync('/proc/self/fd')) expect(openFiles()).toBe(0);
  });

  it('is not downloaded again if the whole object is wrong', async () => {
    const { outcome, requests } = await save([{ text: TEXT, facts: factsFor(OTHER) }, { text: OTHER }]);
    expect(outcome).toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect([requests.length, files()]).toEqual([1, []]);
  });

  it('ends with the reason if it is aborted, and keeps what was received', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const answer = {
      text: TEXT.slice(0, 4),
      facts: factsFor(TEXT),
      get breaks() {
        stop.abort(reason);
        return lost;
      },
    };
    expect((await save([answer], { signal: stop.signal })).outcome).toBe(reason);
    expect(files()).toEqual(['a.txt.part', 'a.txt.part.json']);
  });
});

describe('an existing file', () => {
  it.each<[string, string, Response, object]>([
    ['of another size', 'short', { text: TEXT }, local],
    ['with another MD5', OTHER, { text: TEXT }, local],
    ['with other bytes', OTHER, inParts(TEXT), local],
    ['with the same bytes', TEXT, inParts(TEXT), { result: { status: 'unchanged' } }],
    [
      'whose object has no size',
      TEXT,
      { text: TEXT, facts: factsFor(TEXT, { size: undefined, etag: '"x"' }) },
      { result: { status: 'unchanged' } },
    ],
  ])('%s is kept', async (_, text, answer, expected) => {
    writeFileSync(path, text);
    const { outcome, requests } = await save([answer]);
    expect(outcome).toMatchObject(expected);
    expect([requests.length, readFileSync(path, 'utf8')]).toEqual([1, text]);
    if (existsSync('/proc/self/fd')) expect(openFiles()).toBe(0);
  });

  it('is not compared by downloading the object if its size or MD5 differs', async () => {
    writeFileSync(path, OTHER);
    const { cancelled, progress } = await save([{ text: TEXT }]);
    expect([cancelled, progress.bytes]).toEqual([[1], 0]);
  });

  it('is replaced with force, over the connection that is open', async () => {
    writeFileSync(path, OTHER);
    const { outcome, requests, cancelled } = await save([{ text: TEXT }], { force: true });
    expect(outcome).toMatchObject({ result: { status: 'downloaded' } });
    expect([requests.length, cancelled, readFileSync(path, 'utf8')]).toEqual([1, [], TEXT]);
  });
});

describe('a file that an earlier run began', () => {
  const LENGTH = 1024 * 1024;
  const large = 'x'.repeat(LENGTH);
  const changed = `y${large.slice(1)}`;
  const facts = factsFor(large);
  const half = LENGTH / 2;
  /** Leaves the first half, with a note. */
  const leave = async (of = large) => {
    const broken = { text: of.slice(0, half), facts, breaks: lost };
    await save([broken, lost, lost, lost, lost, lost]);
    expect(files()).toContain('a.txt.part.json');
  };
  const rest: Response = { text: large.slice(half), facts, from: half };
  const done = { begun: 1, expected: LENGTH, bytes: LENGTH };

  it('is resumed', async () => {
    await leave();
    const { outcome, requests, progress } = await save([rest]);
    expect(outcome).toMatchObject({ result: { status: 'downloaded', sha256: sha256(large) } });
    expect(requests).toMatchObject([{ from: half, ifMatch: facts.etag }]);
    expect(progress).toEqual(done);
  });

  it('is resumed over a new connection if the old file is replaced', async () => {
    await leave();
    writeFileSync(path, OTHER);
    const { cancelled, requests, progress } = await save([{ text: large, facts }, rest], { force: true });
    expect([cancelled, requests.length, progress]).toEqual([[1], 2, done]);
    expect(readFileSync(path, 'utf8') === large).toBe(true);
  });

  it('is downloaded from scratch, once, if its bytes are wrong', async () => {
    await leave(changed);
    const { outcome, requests, progress } = await save([rest, { text: large, facts }]);
    expect(outcome).toMatchObject({ result: { sha256: sha256(large) } });
    expect([requests.map(({ from }) => from), progress]).toEqual([[half, undefined], done]);
    await rm(path);
    await leave(changed);
    const wrong = { text: changed, facts };
    const again = await save([rest, wrong, { text: large, facts }]);
    expect(again.outcome).toMatchObject({ code: 'STORAGE_CORRUPT' });
    expect([again.requests.length, files()]).toEqual([2, []]);
  });

  it('is not downloaded again if the disk fails', async () => {
    await leave();
    vi.spyOn(fs, 'writevSync').mockImplementation(() => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    const { outcome, requests } = await save([rest, { text: large, facts }]);
    expect(outcome).toMatchObject(local);
    expect(requests).toHaveLength(1);
  });
});
