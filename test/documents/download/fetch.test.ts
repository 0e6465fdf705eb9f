import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DownloadFolder } from '../../../src/documents/archive/download-folder.ts';
import type { Bucket } from '../../../src/documents/bucket/bucket.ts';
import { type FetchOptions, fetchFiles, waitUntilAvailable } from '../../../src/documents/download/fetch.ts';
import type { FileTarget } from '../../../src/documents/download/locate.ts';
import type { CheckedFile } from '../../../src/documents/download/seals.ts';
import { fileOfKey } from '../../../src/documents/download/targets.ts';
import { acceptPin, readPins } from '../../../src/documents/seal/pins.ts';
import { TimeLimit } from '../../../src/kernel/clock.ts';
import { StorageError } from '../../../src/kernel/errors.ts';
import { createPdf } from '../../../src/sandbox/documents/pdf/pdf.ts';
import { sealKeyOf, sealPdf } from '../../../src/sandbox/documents/seal.ts';
import { fakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryBucket, sha256 } from './memory-bucket.ts';

const missing = () => new StorageError('STORAGE_NOT_FOUND', 'There is no such object.');
const origin = { profile: 'prod', baseUrl: 'https://api.example.com/api/v1' };
const textOf = (key: string) => `%PDF-1.7 ${key}`;

let dir: string;
let folder: DownloadFolder;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-fetch-'));
  folder = await DownloadFolder.open(join(dir, 'out'), { hasList: false, clock: fakeClock() });
});
afterEach(async () => {
  await folder.close();
  await rm(dir, { recursive: true, force: true });
});

/** A bucket in which every object exists except those with "missing" in their key. */
const bucketUntil = (gate: (key: string) => Promise<void> = () => Promise.resolve()) =>
  memoryBucket(async (key) => {
    await gate(key);
    if (key.includes('missing')) throw missing();
    return { text: textOf(key) };
  });

function start(bucket: Bucket, targets: readonly FileTarget[], more: Partial<FetchOptions> = {}) {
  const clock = fakeClock();
  const sealSource = { folder: dir, origin, clock };
  const files = fetchFiles(bucket, targets, {
    folder,
    force: false,
    clock,
    concurrency: 4,
    sealSource,
    client: undefined,
    limit: new TimeLimit(clock, 0),
    ...more,
  });
  return { files, clock };
}

async function all(files: AsyncIterable<CheckedFile>): Promise<CheckedFile[]> {
  const found: CheckedFile[] = [];
  for await (const file of files) found.push(file);
  return found;
}

const fileIn = (envelope: string, what: string, status: string | null = 'COMPLETED'): FileTarget => ({
  ...fileOfKey(`k/${envelope}/${what}.pdf`),
  status,
});

describe('downloads', () => {
  it('are reported in the order of the targets, with failures among them', async () => {
    const { bucket } = bucketUntil();
    const targets = ['a.pdf', 'missing.pdf', 'c.pdf'].map(fileOfKey);
    const { files } = start(bucket, targets);
    const found = await all(files);
    expect(found.map(({ result }) => result)).toEqual([
      {
        envelopeId: null,
        what: null,
        key: 'a.pdf',
        path: join(dir, 'out', 'a.pdf'),
        bytes: 14,
        sha256: sha256(textOf('a.pdf')),
        status: 'downloaded',
        error: null,
      },
      {
        envelopeId: null,
        what: null,
        key: 'missing.pdf',
        path: null,
        bytes: null,
        sha256: null,
        status: 'failed',
        error: { code: 'STORAGE_NOT_FOUND', message: missing().message },
      },
      expect.objectContaining({ key: 'c.pdf', status: 'downloaded' }),
    ]);
    expect(found.map(({ error, problem }) => [error?.code, problem])).toEqual([
      [undefined, null],
      ['STORAGE_NOT_FOUND', null],
      [undefined, null],
    ]);
    expect(await readFile(join(dir, 'out', 'c.pdf'), 'utf8')).toBe(textOf('c.pdf'));
  });

  it('may all fail', async () => {
    const found = await all(start(bucketUntil().bucket, ['missing.pdf', 'missing.txt'].map(fileOfKey)).files);
    expect(found).toMatchObject([
      { error: { code: 'STORAGE_NOT_FOUND' }, seal: null, problem: null },
      { error: { code: 'STORAGE_NOT_FOUND' }, seal: null, problem: null },
    ]);
  });

  it('end with an error that is not of a file, after the files before it', async () => {
    const targets = [fileIn('env_1', 'signed'), { ...fileIn('env_1', 'certificate'), key: null }];
    const { files } = start(bucketUntil().bucket, targets);
    const found: CheckedFile[] = [];
    const run = (async () => {
      for await (const file of files) found.push(file);
    })();
    await expect(run).rejects.toThrow('needs a client');
    expect(found.map(({ result }) => result.what)).toEqual(['signed']);
  });

  it('end when they are aborted, after the files that were complete', async () => {
    const stop = new AbortController();
    const reason = new StorageError('STORAGE_UNREACHABLE', 'stopped');
    const { bucket } = bucketUntil(async (key) => {
      if (!key.includes('certificate')) return;
      stop.abort(reason);
      await Promise.reject(reason);
    });
    const targets = [fileIn('env_1', 'signed'), fileIn('env_1', 'certificate')];
    const { files } = start(bucket, targets, { signal: stop.signal, concurrency: 1 });
    const found: CheckedFile[] = [];
    const run = (async () => {
      for await (const file of files) found.push(file);
    })();
    await expect(run).rejects.toBe(reason);
    expect(found.map(({ result }) => result.what)).toEqual(['signed']);
  });

  it('without a valid seal are a problem once a seal is pinned', async () => {
    await acceptPin(dir, {
      ...origin,
      fingerprint: 'ab'.repeat(32),
      subject: 'CN=x',
      since: '2026-01-01T00:00:00Z',
    });
    const targets = [fileIn('env_1', 'signed'), fileIn('env_1', 'document'), fileOfKey('a.pdf')];
    const found = await all(start(bucketUntil().bucket, targets).files);
    expect(found.map(({ problem }) => problem?.code)).toEqual(['SEAL_UNREADABLE', undefined, undefined]);
  });
});

describe('the first document of a completed envelope', () => {
  /** Returns whether the first result is held back until the last file has arrived. Waits for it if it shouldn't be. */
  async function isHeld(
    targets: readonly FileTarget[],
    { isExpected, ...more }: Partial<FetchOptions> & { isExpected: boolean },
  ): Promise<boolean> {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let count = 0;
    const { bucket } = bucketUntil(() => (++count === targets.length ? gate : Promise.resolve()));
    const recorded = vi.spyOn(folder, 'record');
    const { files } = start(bucket, targets, more);
    const first = { isHeld: true };
    const next = files.next().then(() => {
      first.isHeld = false;
    });
    await eventually(() => expect(recorded).toHaveBeenCalled());
    // What isn't held needs a few turns and file operations, more on a busy machine. The gate stays closed all the time.
    const turns = isExpected ? 40 : 10_000;
    for (let turn = 0; turn < turns && first.isHeld; turn++)
      await new Promise((resolve) => setTimeout(resolve, 1));
    const wasHeld = first.isHeld;
    open();
    await next;
    await all(files);
    return wasHeld;
  }

  it.each<[string, boolean, FileTarget[]]>([
    [
      'is held until its certificate arrives',
      true,
      [fileIn('env_1', 'signed'), fileIn('env_1', 'certificate')],
    ],
    ['is held until the next envelope begins', true, [fileIn('env_1', 'signed'), fileIn('env_2', 'signed')]],
    [
      'is not held longer than that',
      false,
      [fileIn('env_1', 'signed'), fileIn('env_2', 'certificate'), fileIn('env_3', 'signed')],
    ],
    ['is not held if it is the original', false, [fileIn('env_1', 'document'), fileIn('env_1', 'signed')]],
    [
      'is not held if the envelope is not completed',
      false,
      [fileIn('env_1', 'signed', 'SENT'), fileIn('env_1', 'certificate', 'SENT')],
    ],
  ])('%s', async (_, expected, targets) => {
    expect(await isHeld(targets, { isExpected: expected })).toBe(expected);
  });

  it('is not held if nothing can be pinned', async () => {
    const targets = [fileIn('env_1', 'signed'), fileIn('env_1', 'certificate')];
    const sealSource = { folder: dir, origin: undefined, clock: fakeClock() };
    expect(await isHeld(targets, { isExpected: false, sealSource })).toBe(false);
  });
});

describe('a seal', () => {
  let sealed: Uint8Array;
  beforeAll(async () => {
    const keys = await mkdtemp(join(tmpdir(), 'esign-fetch-keys-'));
    const at = '2026-03-01T10:20:30.000Z';
    const blank = createPdf();
    blank.addSheet();
    const pdf = await blank.save({ title: 'x', subject: 'x', keywords: [], at });
    sealed = await sealPdf(pdf, await sealKeyOf(keys), at);
    await rm(keys, { recursive: true, force: true });
  });

  it.each<[string, boolean, FileTarget[]]>([
    [
      'both documents of a completed envelope',
      true,
      [fileIn('env_1', 'signed'), fileIn('env_1', 'certificate'), fileIn('env_2', 'signed')],
    ],
    ['documents of two envelopes', false, [fileIn('env_1', 'signed'), fileIn('env_2', 'certificate')]],
    ['one document', false, [fileIn('env_1', 'signed'), fileIn('env_1', 'document')]],
    [
      'the documents of an envelope that is not completed',
      false,
      [fileIn('env_1', 'signed', 'SENT'), fileIn('env_1', 'certificate', 'SENT')],
    ],
    [
      'documents that were found by their keys',
      false,
      [fileIn('env_1', 'signed', null), fileIn('env_1', 'certificate', null)],
    ],
  ])('is pinned or not by %s', async (_, isPinned, targets) => {
    const { bucket } = memoryBucket(() => ({ text: sealed }));
    const found = await all(start(bucket, targets).files);
    expect((await readPins(dir)).length).toBe(isPinned ? 1 : 0);
    expect(new Set(found.map(({ seal }) => seal?.trust))).toEqual(new Set([isPinned ? 'pinned' : 'unknown']));
    expect(found.map(({ result }) => result.key)).toEqual(targets.map(({ key }) => key));
  });
});

describe('waiting for an object', () => {
  const noBucket = () =>
    new StorageError('STORAGE_NOT_FOUND', 'no', {
      cause: Object.assign(new Error(), { name: 'NoSuchBucket' }),
    });
  const attempts = (...errors: (Error | undefined)[]) => {
    let made = 0;
    const work = () => {
      const error = errors[made++];
      return error ? Promise.reject(error) : Promise.resolve('here');
    };
    return { work, made: () => made };
  };
  const until = (ms: number) => {
    const clock = fakeClock();
    const onWait = vi.fn();
    return {
      clock,
      limit: new TimeLimit(clock, ms),
      onWait,
      client: undefined,
    };
  };

  it('tries each second until it exists', async () => {
    const { work, made } = attempts(missing(), missing());
    const waiting = until(30_000);
    expect(await waitUntilAvailable(work, waiting)).toBe('here');
    expect([made(), waiting.clock.slept, waiting.onWait.mock.calls.length]).toEqual([3, [1_000, 1_000], 2]);
  });

  it.each([
    ['the time is over', 2_000, missing, 3],
    ['no time was given', 0, missing, 1],
    ['the bucket does not exist', 30_000, noBucket, 1],
    ['the error is another one', 30_000, () => new StorageError('STORAGE_DENIED', 'no'), 1],
    ['the error is not of the bucket', 30_000, () => new Error('bug'), 1],
  ])('stops if %s', async (_, ms, errorOf, tries) => {
    const { work, made } = attempts(...Array.from({ length: 9 }, errorOf));
    await expect(waitUntilAvailable(work, until(ms))).rejects.toThrow();
    expect(made()).toBe(tries);
  });
});
