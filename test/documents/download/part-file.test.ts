import { createHash } from 'node:crypto';
import fs, {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ObjectFacts } from '../../../src/documents/bucket/object.ts';
import { PartFile } from '../../../src/documents/download/part-file.ts';
import { codeOf } from '../../../src/kernel/errors.ts';
import { isRecord } from '../../../src/kernel/json.ts';
import { openFilesIn } from '../../support/open-files.ts';
import { factsFor, sha256 } from './memory-bucket.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const OF = { bucket: 'b', key: 'k.bin' };
/** Bytes that differ at each position in a few MiB. */
const bytes = Buffer.concat(
  Array.from({ length: 24 }, (_, i) =>
    Buffer.alloc(512 * KIB, createHash('sha256').update(String(i)).digest()),
  ),
);
/** Without an MD5 or a checksum, as for objects that were uploaded in parts. */
const unproven = (size: number) => factsFor('', { size, etag: '"x-3"', md5: undefined });
/** An object that is never complete here. */
const large = factsFor('', { size: 12 * MIB });

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'esign-part-'));
  path = join(dir, 'a.part');
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(dir, { recursive: true, force: true });
});

const note = () => `${path}.json`;
const objectOf = (line: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(line);
  return isRecord(value) ? value : {};
};
const noteLines = () => readFileSync(note(), 'utf8').trimEnd().split('\n').map(objectOf);
const failureOf = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return codeOf(error);
  }
};
const openFiles = () => openFilesIn(dir);
const needsProc = { skip: !existsSync('/proc/self/fd') };

/** Writes bytes of the object in blocks of 512 KiB, as they reach the disk. */
function write(part: PartFile, to: number): void {
  while (part.length < to) part.write(bytes.subarray(part.length, Math.min(part.length + 512 * KIB, to)));
}
/** Starts an object, writes this many bytes, and keeps them. */
async function leave(facts: ObjectFacts, length: number): Promise<void> {
  const part = await PartFile.open(path, OF);
  if (part.known === undefined) part.begin(facts);
  write(part, length);
  part.keep();
}

describe('a part file', () => {
  it('is private, and its folder is created', async () => {
    path = join(dir, 'new', 'sub', 'a.part');
    const part = await PartFile.open(path, OF);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([part.length, part.known]).toEqual([0, undefined]);
    part.discard();
  });

  it('is written each 512 KiB', async () => {
    const part = await PartFile.open(path, OF);
    part.begin(large);
    const sizes = [0, 512 * KIB - 1, 512 * KIB, 512 * KIB + 1].map((length) => {
      part.write(bytes.subarray(part.length, length));
      return statSync(path).size;
    });
    expect(sizes).toEqual([0, 0, 512 * KIB, 512 * KIB]);
    part.discard();
  });

  it('is verified, synced, and renamed', async () => {
    const body = bytes.subarray(0, 2 * MIB + 5);
    const part = await PartFile.open(path, OF);
    part.begin(factsFor(body));
    write(part, body.length);
    expect(part.verify()).toEqual({ bytes: body.length, sha256: sha256(body) });
    const synced = vi.spyOn(fs, 'fsync');
    syncBuiltinESMExports();
    await part.publish(join(dir, 'a'));
    expect(readdirSync(dir)).toEqual(['a']);
    expect(readFileSync(join(dir, 'a')).equals(body)).toBe(true);
    expect(synced.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it('is corrupt if no bytes arrived', async () => {
    const part = await PartFile.open(path, OF);
    expect(failureOf(() => part.verify())).toBe('STORAGE_CORRUPT');
    part.discard();
  });

  it('can be discarded after it could not be renamed', async () => {
    mkdirSync(join(dir, 'a', 'full'), { recursive: true });
    const part = await PartFile.open(path, OF);
    part.begin(factsFor('x'));
    part.write(Buffer.from('x'));
    part.verify();
    await expect(part.publish(join(dir, 'a'))).rejects.toThrow();
    // The number of the closed file may belong to another one by now.
    const closed = vi.spyOn(fs, 'closeSync');
    syncBuiltinESMExports();
    part.discard();
    expect([closed.mock.calls, readdirSync(dir)]).toEqual([[], ['a']]);
  });

  it('starts from scratch after a restart', async () => {
    const part = await PartFile.open(path, OF);
    part.begin(large);
    write(part, MIB + 7);
    part.restart();
    expect([part.length, part.known, statSync(path).size]).toEqual([0, undefined, 0]);
    expect(readdirSync(dir)).toEqual(['a.part']);
    part.begin(factsFor('other'));
    part.write(Buffer.from('other'));
    expect(part.verify()).toEqual({ bytes: 5, sha256: sha256('other') });
    await part.publish(join(dir, 'a'));
    expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('other');
  });

  it.each<[string, (part: PartFile) => unknown]>([
    ['kept', (part) => part.keep()],
    ['discarded', (part) => part.discard()],
    ['published', (part) => part.publish(join(dir, 'a'))],
  ])('is closed once it is %s', needsProc, async (_, end) => {
    const part = await PartFile.open(path, OF);
    part.begin(large);
    part.write(bytes.subarray(0, 10));
    expect(openFiles()).toBe(1);
    await end(part);
    expect(openFiles()).toBe(0);
  });

  it('with a second name is refused and closed', async () => {
    writeFileSync(join(dir, 'other'), 'text');
    linkSync(join(dir, 'other'), path);
    await expect(PartFile.open(path, OF)).rejects.toMatchObject({ code: 'ENOTFILE' });
    expect(readFileSync(join(dir, 'other'), 'utf8')).toBe('text');
    if (!needsProc.skip) expect(openFiles()).toBe(0);
  });
});

describe('a disk', () => {
  it('that writes less than it was given gets the rest', async () => {
    const { writevSync, writeSync } = fs;
    vi.spyOn(fs, 'writevSync').mockImplementation((file, [first], position) =>
      writevSync(file, first === undefined ? [] : [Buffer.from(first.buffer, first.byteOffset, 3)], position),
    );
    const rest = vi.fn((file: number, from: Buffer, start: number, length: number, position: number) =>
      writeSync(file, from, start, Math.min(length, 300 * KIB), position),
    );
    Object.defineProperty(fs, 'writeSync', { value: rest, configurable: true, writable: true });
    onTestFinished(() => {
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    const part = await PartFile.open(path, OF);
    part.begin(factsFor(bytes.subarray(0, 600 * KIB), { etag: 'W/"x"' }));
    for (const end of [100, 512 * KIB, 600 * KIB]) part.write(bytes.subarray(part.length, end));
    part.verify();
    expect(readFileSync(path).equals(bytes.subarray(0, 600 * KIB))).toBe(true);
    expect(rest.mock.calls.length).toBe(3);
    part.discard();
  });

  const writeLast = (part: PartFile) => {
    part.write(Buffer.from('x'));
    part.verify();
  };

  it.each<[string, 'writevSync' | 'writeFileSync' | 'ftruncateSync', (part: PartFile) => unknown]>([
    ['write bytes', 'writevSync', (part) => write(part, 512 * KIB)],
    ['write the last bytes', 'writevSync', writeLast],
    ['write the note', 'writeFileSync', (part) => write(part, 512 * KIB)],
    ['start over', 'ftruncateSync', (part) => part.restart()],
  ])("that can't %s is reported as a local error", async (_, call, work) => {
    const part = await PartFile.open(path, OF);
    part.begin(factsFor(bytes.subarray(0, 700 * KIB)));
    vi.spyOn(fs, call).mockImplementation(() => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    expect(failureOf(() => work(part))).toBe('STORAGE_LOCAL');
    part.discard();
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('a slow download', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  it('is saved at intervals, with checkpoints if the response proves nothing', async () => {
    const part = await PartFile.open(path, OF);
    part.begin(unproven(MIB));
    const states = [1_000, 1_500, 2_000].map((length) => {
      part.write(bytes.subarray(part.length, length));
      vi.advanceTimersByTime(300);
      return [statSync(path).size, noteLines().length];
    });
    expect(states).toEqual([
      [1_000, 2],
      [1_500, 2],
      [2_000, 3],
    ]);
    part.discard();
    expect([readdirSync(dir), vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('fails at the next write if it could not be saved', async () => {
    const part = await PartFile.open(path, OF);
    part.begin(large);
    part.write(bytes.subarray(0, 10));
    vi.spyOn(fs, 'writevSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    vi.advanceTimersByTime(300);
    expect(failureOf(() => part.write(bytes.subarray(10, 20)))).toBe('STORAGE_LOCAL');
    expect(failureOf(() => part.verify())).toBe('STORAGE_LOCAL');
    part.keep();
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('a note', () => {
  it.each<[string, ObjectFacts, boolean]>([
    ['a known size', { ...large, size: 1_001 }, true],
    ['an unknown size', { ...large, size: undefined }, false],
    ['a weak ETag', { ...large, etag: 'W/"x"' }, false],
  ])('of an object with %s decides whether its bytes are kept', async (_, facts, isKept) => {
    await leave(facts, 1_000);
    expect(readdirSync(dir).sort()).toEqual(isKept ? ['a.part', 'a.part.json'] : []);
    if (!isKept) return;
    const { size, etag, md5 } = facts;
    expect(noteLines()).toEqual([{ ...OF, size, etag, md5 }]);
    expect(statSync(note()).mode & 0o777).toBe(0o600);
    expect(readFileSync(path).equals(bytes.subarray(0, 1_000))).toBe(true);
  });

  it('replaces an earlier one, without following a link', async () => {
    writeFileSync(join(dir, 'mine'), 'text');
    fs.symlinkSync(join(dir, 'mine'), note());
    await leave(large, 10);
    expect(readFileSync(join(dir, 'mine'), 'utf8')).toBe('text');
    expect(noteLines()).toMatchObject([OF]);
  });

  it('has a checkpoint for each 4 MiB if the response proves nothing', async () => {
    const part = await PartFile.open(path, OF);
    part.begin(unproven(10 * MIB));
    const lines = [3.5, 4, 7.5, 8].map((mib) => {
      write(part, mib * MIB);
      return noteLines().length;
    });
    expect(lines).toEqual([1, 2, 2, 3]);
    expect(noteLines()[1]).toEqual({ bytes: 4 * MIB, sha256: sha256(bytes.subarray(0, 4 * MIB)) });
    part.discard();
  });

  it('gets a last checkpoint only for new bytes', async () => {
    await leave(unproven(10 * MIB), 4 * MIB);
    expect(noteLines()).toMatchObject([OF, { bytes: 4 * MIB }]);
    await leave(unproven(10 * MIB), 4 * MIB);
    expect(noteLines()).toHaveLength(2);
    await leave(unproven(10 * MIB), 4 * MIB + 1);
    expect(noteLines()).toMatchObject([OF, { bytes: 4 * MIB }, { bytes: 4 * MIB + 1 }]);
  });

  it.each<[string, ObjectFacts]>([
    ['a provable object', large],
    ['a complete object', unproven(4 * MIB)],
  ])('has no checkpoint for %s', async (_, facts) => {
    await leave(facts, Math.min(facts.size ?? 0, 5 * MIB));
    expect(noteLines()).toHaveLength(1);
  });
});

describe('a later run', () => {
  const proven = factsFor(bytes.subarray(0, 2 * MIB));

  it.each<[string, ObjectFacts, number, number]>([
    ['the bytes of a provable object', proven, 1_000, 1_000],
    ['all except one byte of a complete object', proven, 2 * MIB, 2 * MIB - 1],
    ['the bytes until the last checkpoint', unproven(6 * MIB), 5 * MIB, 5 * MIB],
  ])('keeps %s', async (_, facts, left, kept) => {
    await leave(facts, left);
    const part = await PartFile.open(path, OF);
    expect([part.length, part.known, statSync(path).size]).toEqual([kept, facts, kept]);
    write(part, facts.size ?? 0);
    expect(part.verify()).toMatchObject({ bytes: facts.size });
    await part.publish(join(dir, 'a'));
    expect(readdirSync(dir)).toEqual(['a']);
  });

  it('keeps the bytes that the runs before it added', async () => {
    const facts = unproven(6 * MIB);
    for (const length of [2 * MIB, 3 * MIB, 3 * MIB + 10]) await leave(facts, length);
    const part = await PartFile.open(path, OF);
    expect(part.length).toBe(3 * MIB + 10);
    part.discard();
  });

  it.each<[string, () => void]>([
    ['there is no note', () => rmSync(note())],
    ['there is no checkpoint', () => writeFileSync(note(), JSON.stringify({ ...OF, size: 9, etag: '"x"' }))],
    ['the note names another bucket', () => rewriteNote({ bucket: 'other' })],
    ['the note names another key', () => rewriteNote({ key: 'other' })],
    ['the part has more bytes than the object', () => rewriteNote({ size: 10 })],
  ])('starts over if %s', async (_, change) => {
    await leave(unproven(6 * MIB), 5 * MIB);
    change();
    const part = await PartFile.open(path, OF);
    expect([part.length, part.known, readdirSync(dir)]).toEqual([0, undefined, ['a.part']]);
    part.discard();
  });

  function rewriteNote(change: object): void {
    const text = noteLines().map((line, i) => JSON.stringify(i === 0 ? { ...line, ...change } : line));
    writeFileSync(note(), text.join('\n'));
  }

  it('leaves no note if a kill came before the first bytes were written', async () => {
    writeFileSync(path, '');
    writeFileSync(note(), JSON.stringify({ ...OF, size: 2 * MIB, etag: '"x"' }));
    const part = await PartFile.open(path, OF);
    part.discard();
    expect(readdirSync(dir)).toEqual([]);
  });
});
