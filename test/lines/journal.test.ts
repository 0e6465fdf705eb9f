import { appendFile, chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Journal } from '../../src/lines/journal.ts';
import { linesOf } from '../../src/lines/read-lines.ts';
import { type JournalReading, scan } from '../../src/lines/scan.ts';
import { newFolder } from '../support/folder.ts';
import { isPrivate } from '../support/private.ts';
import { isWindows } from '../support/system.ts';

interface Entry {
  n: number;
  text: string;
}

let folder: string;
let count = 0;
beforeAll(() => {
  folder = newFolder();
});

function reading(damaged: 'refuse' | 'skip' = 'refuse', version = 1): JournalReading<Entry> {
  count++;
  return at(join(folder, 'deep', `${count}.jsonl`), damaged, version);
}

function at(path: string, damaged: 'refuse' | 'skip' = 'refuse', version = 1): JournalReading<Entry> {
  const read = (value: unknown) =>
    isRecord(value) && typeof value.n === 'number' && typeof value.text === 'string'
      ? { n: value.n, text: value.text }
      : undefined;
  return { path, format: { kind: 'test', version, read }, damaged };
}

async function entriesOf(from: JournalReading<Entry>): Promise<Entry[]> {
  const entries: Entry[] = [];
  await scan(from, (entry) => entries.push(entry));
  return entries;
}

async function written(entries: readonly Entry[], into = reading()): Promise<JournalReading<Entry>> {
  const journal = await Journal.open(into);
  await Promise.all(entries.map((entry) => journal.append(entry)));
  await journal.close();
  return into;
}

const some = (length: number): Entry[] =>
  Array.from({ length }, (_, n) => ({ n, text: `line\n${n} "ü" 日本 \u0000` }));

describe('a journal', () => {
  it('returns appended entries in order across restarts; the file is private', async () => {
    const one = reading();
    await written(some(3), one);
    const replayed: Entry[] = [];
    const journal = await Journal.open(one, (entry) => replayed.push(entry));
    await journal.append({ n: 3, text: 'last' });
    await journal.close();
    expect(replayed).toEqual(some(3));
    expect(await entriesOf(one)).toEqual([...some(3), { n: 3, text: 'last' }]);
    expect(isPrivate(one.path)).toBe(true);
    for (const line of (await readFile(one.path, 'utf8')).trimEnd().split('\n'))
      expect(isRecord(JSON.parse(line))).toBe(true);
  });

  it('has an entry on disk when append resolves', async () => {
    const one = reading();
    const journal = await Journal.open(one);
    for (const entry of some(20)) {
      await journal.append(entry);
      expect((await entriesOf(one)).at(-1)).toEqual(entry);
    }
    await journal.close();
  });

  it('accepts the next entry as soon as one is on disk', async () => {
    const one = reading();
    const journal = await Journal.open(one);
    for (const entry of some(20)) await journal.append(entry);
    await journal.close();
    expect(await entriesOf(one)).toEqual(some(20));
  });

  it('fails when its file was deleted', async () => {
    const one = reading();
    const journal = await Journal.open(one);
    await journal.append({ n: 1, text: 'before' });
    await rm(one.path);
    await expect(journal.append({ n: 2, text: 'lost' })).rejects.toMatchObject({ code: 'JOURNAL' });
    await expect(journal.append({ n: 3, text: 'after' })).rejects.toMatchObject({ code: 'JOURNAL' });
    await journal.close();
    expect(await entriesOf(one)).toEqual([]);
  });

  it('keeps every complete entry and accepts new ones when it is truncated at any byte', async () => {
    const entries = some(4);
    const whole = await readFile((await written(entries)).path);
    const ends = [...whole.keys()].filter((index) => whole[index] === 10);
    // A prime step reaches every part of a line.
    for (let length = 0; length <= whole.length; length += 7) {
      const one = reading();
      await written([], one);
      await writeFile(one.path, whole.subarray(0, length));
      const journal = await Journal.open(one);
      await journal.append({ n: 99, text: 'new' });
      await journal.close();
      const kept = Math.max(0, ends.filter((end) => end < length).length - 1);
      expect(await entriesOf(one)).toEqual([...entries.slice(0, kept), { n: 99, text: 'new' }]);
    }
  });

  it('never returns anything that was not written when any byte is flipped', async () => {
    const entries = some(5);
    const whole = await readFile((await written(entries)).path);
    const one = await written([]);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (index, mask) => {
        const flipped = Buffer.from(whole);
        flipped[index] = (flipped[index] ?? 0) ^ mask;
        await writeFile(one.path, flipped);
        const found = await entriesOf({ ...one, damaged: 'skip' }).catch((error: unknown) => error);
        if (found instanceof Error) {
          expect(found.message).toContain(one.path);
          return;
        }
        const texts = new Set(entries.map((entry) => JSON.stringify(entry)));
        for (const entry of Array.isArray(found) ? found : [])
          expect(texts.has(JSON.stringify(entry))).toBe(true);
        expect(Array.isArray(found) && found.length >= entries.length - 2).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses a damaged line in the middle by its number, or only counts it if asked to', async () => {
    const one = await written(some(3));
    const lines = (await readFile(one.path, 'utf8')).split('\n');
    lines[2] = String(lines[2]).replace('ü', 'u');
    await writeFile(one.path, lines.join('\n'));
    await expect(entriesOf(one)).rejects.toThrow(`Line 3 of the journal ${one.path}`);
    const state = await scan({ ...one, damaged: 'skip' }, () => undefined);
    expect(state.skipped).toBe(1);
  });

  it('is refused and left unchanged if it is of another version or kind', async () => {
    const one = await written(some(2), reading('refuse', 2));
    const before = await readFile(one.path, 'utf8');
    await expect(Journal.open(at(one.path, 'refuse', 1))).rejects.toThrow('different version of esign');
    await writeFile(`${one.path}.text`, 'hello\nworld\n');
    await expect(Journal.open(at(`${one.path}.text`))).rejects.toThrow("can't be used");
    expect(await readFile(one.path, 'utf8')).toBe(before);
    expect(await readFile(`${one.path}.text`, 'utf8')).toBe('hello\nworld\n');
  });

  it('can be read while another process writes it', async () => {
    const one = await written(some(2));
    await appendFile(one.path, '{"n":5,"text":"half');
    expect(await entriesOf(one)).toEqual(some(2));
  });

  it("reports that it can't be written", async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(Journal.open(at(join(file, 'x.jsonl')))).rejects.toThrow("Can't write the journal");
  });

  it("reports that it can't be read", async () => {
    const error = { code: 'USAGE', message: `Can't read the journal ${folder}: it is a folder.` };
    await expect(entriesOf(at(folder))).rejects.toMatchObject(error);
    await expect(linesOf(folder).next()).rejects.toMatchObject(error);
  });

  it.skipIf(isWindows || process.getuid?.() === 0)('reports that its folder is read-only', async () => {
    await chmod(folder, 0o500);
    await expect(Journal.open(reading())).rejects.toThrow("Can't write the journal");
    await chmod(folder, 0o700);
  });
});
