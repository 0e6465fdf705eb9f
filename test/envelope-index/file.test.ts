import fs, {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { entryOf, type IndexEvent } from '../../src/envelope-index/entry.ts';
import { Feed } from '../../src/envelope-index/feed.ts';
import { IndexFile, indexFiles, removeIndexesOf } from '../../src/envelope-index/index-file.ts';
import { appendToIndex, HEADER, indexFolder, indexPath } from '../../src/envelope-index/index-writer.ts';
import { writeLine } from '../../src/journal/line.ts';
import { eventually } from '../support/eventually.ts';
import { isPrivate } from '../support/private.ts';

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;
const scope = { baseUrl: 'https://api.example.com', profile: 'acme', apiKey: 'sk_1' };

let folder: string;
let file: IndexFile;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-index-file-'));
  file = new IndexFile(indexPath(folder, scope));
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(folder, { recursive: true, force: true });
});

const envelope = (n: number, more: Partial<Envelope> = {}): Envelope => ({
  id: `env_${n}`,
  status: 'SENT',
  metadata: {},
  signers: [],
  createdAt: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
  ...more,
});
const entry = (n: number, more: Partial<Envelope> = {}, seen = 1) => entryOf(envelope(n, more), true, seen);
const add = (...lines: Parameters<typeof appendToIndex>[1][number][]) => appendToIndex(file.path, lines);
const lines = () => readFileSync(file.path, 'utf8').split('\n').filter(Boolean);
const idsIn = async () => [...(await file.read()).known.keys()];

/** The envelopes that the file has for these IDs, read one by one and all together. */
async function stored(...ids: string[]): Promise<[(Envelope | undefined)[], Envelope[]]> {
  const { known } = await file.read();
  const wanted = ids.flatMap((id) => known.get(id) ?? []);
  const open = file.open();
  try {
    return [wanted.map((one) => open.envelope(one)), [...open.all(wanted)]];
  } finally {
    open.close();
  }
}

describe('the file of an index', () => {
  it('is private, and starts with its header', async () => {
    expect(file.path).toBe(indexPath(folder, scope));
    const { added, size } = add(entry(1));
    expect(size).toBe(statSync(file.path).size);
    expect(added).toBe(size - writeLine(HEADER).length);
    expect([isPrivate(file.path), isPrivate(dirname(file.path))]).toEqual([true, true]);
    expect(lines()[0]).toBe(writeLine(HEADER).trimEnd());
    expect(await idsIn()).toEqual(['env_1']);
    add(entry(2), entry(3));
    expect(await idsIn()).toEqual(['env_1', 'env_2', 'env_3']);
  });

  it('differs for each profile, key, and address', () => {
    const scopes = [
      scope,
      { ...scope, apiKey: 'sk_2' },
      { ...scope, baseUrl: 'https://x' },
      { ...scope, profile: undefined },
    ];
    expect(new Set(scopes.map((one) => indexPath(folder, one))).size).toBe(4);
  });

  it('is empty if it is missing', async () => {
    const snapshot = await file.read();
    expect([snapshot.known.size, snapshot.file]).toEqual([0, undefined]);
  });

  it('loses only the line that a killed process left incomplete', async () => {
    add(entry(1));
    appendFileSync(file.path, writeLine(entry(2)).slice(0, 30));
    add(entry(3));
    const snapshot = await file.read();
    expect([[...snapshot.known.keys()], snapshot.damaged]).toEqual([['env_1', 'env_3'], 1]);
  });

  it('is read on from an earlier snapshot, or again if it was replaced', async () => {
    add(entry(1));
    const before = await file.read();
    add(entry(2));
    const after = await file.read(undefined, before);
    expect(after).toBe(before);
    expect([...after.known.keys()]).toEqual(['env_1', 'env_2']);
    await file.tidy(after, true);
    const again = await file.read(undefined, after);
    expect(again).not.toBe(after);
    expect(again.known.size).toBe(2);
  });

  it('is removed if it has another version', async () => {
    mkdirSync(dirname(file.path), { mode: 0o700 });
    writeFileSync(file.path, `${writeLine({ ...HEADER, version: 9 })}${writeLine(entry(1))}`);
    expect(await idsIn()).toEqual([]);
    expect(existsSync(file.path)).toBe(false);
  });

  it.each<[string, object, boolean]>([
    ['has little space', { blocks: 1_000, bavail: 16 * 1024 - 1, bsize: 1024 }, false],
    ['has enough space', { blocks: 1_000, bavail: 16 * 1024, bsize: 1024 }, true],
    ['reports no size', { blocks: 0, bavail: 0, bsize: 1024 }, true],
  ])('is written if the disk %s: %j', (_, facts, isWritten) => {
    vi.spyOn(fs, 'statfsSync').mockReturnValue({ ...fs.statfsSync(folder), ...facts });
    syncBuiltinESMExports();
    const write = () => add(entry(1));
    if (isWritten) expect(write().size).toBeGreaterThan(0);
    else expect(write).toThrow('nearly full');
  });

  it('is written if the free space is unknown', () => {
    vi.spyOn(fs, 'statfsSync').mockImplementation(() => {
      throw new Error('not supported');
    });
    syncBuiltinESMExports();
    expect(add(entry(1)).size).toBeGreaterThan(0);
  });

  it('is continued if another process created it in the meantime', async () => {
    add(entry(1));
    vi.spyOn(fs, 'openSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('missing'), { code: 'ENOENT' });
    });
    syncBuiltinESMExports();
    add(entry(2));
    expect(await idsIn()).toEqual(['env_1', 'env_2']);
    expect(lines().filter((line) => line.includes('"version"'))).toHaveLength(1);
  });

  it('reports why it cannot be created', () => {
    vi.spyOn(fs, 'openSync').mockImplementation((_path, flags) => {
      throw Object.assign(new Error('failed'), {
        code: Number(flags) & fs.constants.O_CREAT ? 'EROFS' : 'ENOENT',
      });
    });
    syncBuiltinESMExports();
    expect(() => add(entry(1))).toThrow(expect.objectContaining({ code: 'EROFS' }));
  });

  it('is read in blocks', async () => {
    add(...Array.from({ length: 300 }, (_, n) => entry(n)));
    const { known } = await file.read();
    const open = file.open();
    const readSync = vi.spyOn(fs, 'readSync');
    syncBuiltinESMExports();
    expect([...open.all([...known.values()])]).toHaveLength(300);
    expect(readSync).toHaveBeenCalledTimes(1);
    open.close();
  });

  it('returns envelopes in any order, also lines of more than a megabyte', async () => {
    const large = 'x'.repeat(MIB);
    add(entry(1), entry(2, { message: large }), entry(3), entry(4, { subject: 'a' }));
    const [single, all] = await stored('env_4', 'env_2', 'env_1');
    expect(single.map((one) => one?.id)).toEqual(['env_4', 'env_2', 'env_1']);
    expect(all.map(({ id }) => id)).toEqual(['env_1', 'env_2', 'env_4']);
    expect([all[1]?.message === large, all[2]?.subject]).toEqual([true, 'a']);
  });

  it('returns nothing for a line that has changed since it was read', async () => {
    add(entry(1), entry(2));
    const { known } = await file.read();
    writeFileSync(
      file.path,
      readFileSync(file.path, 'utf8').replace('"envelope":{"id":"env_1"', '"envelope":{"id":"env_9"'),
    );
    const open = file.open();
    const all = [...known.values()];
    expect(all.map((one) => open.envelope(one)?.id)).toEqual([undefined, 'env_2']);
    expect([...open.all(all)].map(({ id }) => id)).toEqual(['env_2']);
    open.close();
  });

  it('has no envelope for one that only a webhook reported', async () => {
    add(entry(1), { touched: 'env_2', status: 'SENT', seen: 1 });
    expect(await stored('env_2', 'env_1')).toMatchObject([[undefined, { id: 'env_1' }], [{ id: 'env_1' }]]);
  });
});

describe('rewriting the file', () => {
  const isTidied = async (always?: boolean) => file.tidy(await file.read(), always);

  it('keeps the latest line of each envelope, oldest first, and when it was complete', async () => {
    const complete: IndexEvent = { complete: 5, upTo: 6, extra: 7 };
    add(entry(2), entry(1), entry(3), complete, entry(2, { status: 'IN_PROGRESS' }, 2));
    add({ gone: 'env_3', seen: 3 }, { touched: 'env_1', status: 'COMPLETED', seen: 4 });
    expect(await isTidied()).toBe(false);
    expect(await isTidied(true)).toBe(true);
    const events = lines().map((line): unknown => JSON.parse(line));
    expect(events).toMatchObject([
      HEADER,
      { id: 'env_1', status: 'SENT' },
      { touched: 'env_1', status: 'COMPLETED' },
      { id: 'env_2', status: 'IN_PROGRESS' },
      complete,
    ]);
    expect(isPrivate(file.path)).toBe(true);
    expect((await stored('env_2'))[0]).toMatchObject([{ status: 'IN_PROGRESS' }]);
  });

  it('happens if a line is damaged', async () => {
    add(entry(1));
    appendFileSync(file.path, '{"id":"env_2"}\n');
    expect([await isTidied(), await isTidied()]).toEqual([true, false]);
  });

  it.each<[string, number, number, boolean]>([
    ['4 MiB are obsolete', 4.1, 0.1, true],
    ['less is obsolete', 3.9, 0.1, false],
    ['more is needed', 4.1, 4.3, false],
  ])('happens if %s', async (_, obsolete, live, expected) => {
    const text = (mib: number) => ({ message: 'x'.repeat(mib * MIB) });
    add(entry(1, text(obsolete)), entry(1, {}, 2), entry(2, text(live)));
    expect(await isTidied()).toBe(expected);
  });

  it('happens if exactly 4 MiB are obsolete', async () => {
    const write = (length: number) => add(entry(1, { message: 'x'.repeat(length) }));
    write(0);
    add(entry(1, {}, 2));
    const { size, live } = await file.read();
    await rm(file.path);
    write(4 * MIB - (size - live));
    add(entry(1, {}, 2));
    const snapshot = await file.read();
    expect(snapshot.size - snapshot.live).toBe(4 * MIB);
    expect(await isTidied()).toBe(true);
  });

  it('orders envelopes of the same second by when they were read', async () => {
    const { createdAt } = envelope(1);
    add(entry(2, { createdAt }, 9), entry(1, { createdAt }, 5), entry(3, { createdAt }, 7));
    await isTidied(true);
    expect(await idsIn()).toEqual(['env_1', 'env_3', 'env_2']);
  });

  it('copies any number of lines', async () => {
    add(...Array.from({ length: 401 }, (_, n) => entry(n)));
    await isTidied(true);
    expect(await idsIn()).toHaveLength(401);
  });

  it('is left to the process that holds the lock', async () => {
    add(entry(1));
    appendFileSync(file.path, 'damaged\n');
    await file.withLock(async () => {
      await expect(new IndexFile(indexPath(folder, scope)).tidyIfFree()).rejects.toThrow('another process');
    });
    expect((await file.read()).damaged).toBe(1);
    await file.tidyIfFree();
    expect((await file.read()).damaged).toBe(0);
  });
});

describe('the lock of an index', () => {
  /** Takes the lock, and returns a function that releases it. */
  function hold(): Promise<() => Promise<void>> {
    return new Promise((entered) => {
      const held: Promise<void> = file.withLock(
        () =>
          new Promise<void>((finish) =>
            entered(() => {
              finish();
              return held;
            }),
          ),
      );
    });
  }

  it('is waited for, which is reported once', async () => {
    const release = await hold();
    const onWait = vi.fn();
    const second = file.withLock(() => Promise.resolve('done'), { onWait });
    await eventually(() => expect(onWait).toHaveBeenCalled());
    // At least one more attempt is made in the meantime.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await release();
    expect(await second).toBe('done');
    expect(onWait).toHaveBeenCalledTimes(1);
  });

  it('is not waited for after an abort, or without anyone to tell', async () => {
    const release = await hold();
    const reason = new Error('stopped');
    const work = vi.fn(() => Promise.resolve());
    await expect(file.withLock(work, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(work).not.toHaveBeenCalled();
    await release();
  });
});

describe('the files of a state folder', () => {
  const other = { ...scope, profile: 'other' };
  const names = () => readdirSync(join(folder, 'index'));

  it('are listed and removed by profile', async () => {
    add(entry(1));
    appendToIndex(indexPath(folder, { ...scope, apiKey: 'sk_2' }), [entry(1)]);
    appendToIndex(indexPath(folder, other), [entry(1)]);
    writeFileSync(join(folder, 'index', 'note.txt'), '');
    expect(await indexFiles(indexFolder(folder), 'all')).toHaveLength(3);
    const own = await indexFiles(indexFolder(folder), { profile: 'acme' });
    expect(own).toHaveLength(2);
    expect(own.find(({ path }) => path === file.path)).toEqual({
      path: file.path,
      bytes: statSync(file.path).size,
      usedAt: statSync(file.path).mtimeMs,
    });
    await removeIndexesOf(folder, 'acme');
    expect((await indexFiles(indexFolder(folder), 'all')).map(({ path }) => path)).toEqual([
      indexPath(folder, other),
    ]);
    expect(await indexFiles(join(folder, 'missing'), 'all')).toEqual([]);
  });

  it('are removed after 90 days without use', async () => {
    add(entry(1));
    appendToIndex(indexPath(folder, other), [entry(1)]);
    const setAge = (path: string, days: number) => {
      const at = new Date(Date.now() - days * DAY_MS);
      utimesSync(path, at, at);
    };
    setAge(file.path, 89.9);
    setAge(indexPath(folder, other), 90.1);
    await file.removeUnused();
    expect(names()).toHaveLength(1);
    expect(existsSync(file.path)).toBe(true);
  });
});

describe('the feed of an index', () => {
  const written = () => (existsSync(file.path) ? lines().length - 1 : 0);

  it('writes an envelope again only if it has changed, or more of it is known', () => {
    const feed = new Feed(indexPath(folder, scope));
    const linesAfter = (work: () => void) => {
      work();
      feed.flush();
      return written();
    };
    expect([
      linesAfter(() => feed.envelope(envelope(1, { signers: undefined }), false)),
      linesAfter(() => feed.envelope(envelope(1, { signers: undefined }), false)),
      linesAfter(() => feed.envelope(envelope(1, { signers: undefined }), true)),
      linesAfter(() => feed.envelope(envelope(1, { signers: undefined }), true)),
      linesAfter(() => feed.envelope(envelope(1, { subject: 'x' }), true)),
      linesAfter(() => feed.gone('env_1')),
      linesAfter(() => feed.envelope(envelope(1, { subject: 'x' }), true)),
      linesAfter(() => feed.touched('env_1', 'COMPLETED')),
      linesAfter(() => feed.complete(5, 6)),
    ]).toEqual([1, 1, 2, 2, 3, 4, 5, 6, 7]);
    expect(
      lines()
        .slice(-2)
        .map((line): unknown => JSON.parse(line)),
    ).toMatchObject([
      { touched: 'env_1', status: 'COMPLETED' },
      { upTo: 5, extra: 6 },
    ]);
  });

  it('writes nothing if nothing was read', async () => {
    const feed = new Feed(indexPath(folder, scope));
    await feed.finish();
    expect(existsSync(file.path)).toBe(false);
  });

  it('writes fifty lines at a time, and the rest at the end', async () => {
    const feed = new Feed(indexPath(folder, scope));
    for (let n = 0; n < 49; n++) feed.envelope(envelope(n), true);
    expect(written()).toBe(0);
    feed.envelope(envelope(49), true);
    expect(written()).toBe(50);
    feed.envelope(envelope(50), true);
    await feed.finish();
    expect(written()).toBe(51);
  });

  it("continues without the index if it can't be written", async () => {
    writeFileSync(join(folder, 'index'), '');
    const feed = new Feed(indexPath(folder, scope));
    expect(feed.hasFailed).toBe(false);
    feed.envelope(envelope(1), true);
    feed.flush();
    expect(feed.hasFailed).toBe(true);
    feed.envelope(envelope(2), true);
    await feed.finish();
  });
});
