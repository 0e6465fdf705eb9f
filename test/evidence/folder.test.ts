import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Collection, EvidenceFolder } from '../../src/evidence/folder.ts';
import { jsonText } from '../../src/output/json.ts';

let parent: string;
let dir: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'esign-evidence-'));
  dir = join(parent, 'new', 'evidence');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const open = (id = 'env_1', force = false) => EvidenceFolder.open(dir, id, { force, jsonText });
const read = (name: string) => readFile(join(dir, name), 'utf8');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface Entry {
  key: string;
  value: number;
}
const entries = {
  schema: z.object({ key: z.string(), value: z.number() }),
  keyOf: ({ key }: Entry) => key,
  order: ({ key }: Entry) => key,
};

/** A run that collects these entries; `end: 'killed'` before the list is written. */
async function collect(now: Entry[], { end = 'closed', force = false } = {}): Promise<string[]> {
  const folder = await open('env_1', force);
  const all = await folder.withEarlier('entries.jsonl', now, entries);
  await folder.writeLines('entries.jsonl', all);
  if (end === 'closed') await folder.close();
  return all.map(({ key, value }) => `${key}${value}`);
}
const [a, b, c] = [
  { key: 'a', value: 1 },
  { key: 'b', value: 2 },
  { key: 'c', value: 3 },
];

describe('an evidence folder', () => {
  it('is created with its files and their hashes', async () => {
    const folder = await open();
    await folder.writeJson('envelope.json', { id: 'env_1', subject: '\u202e' });
    await folder.writeLines('entries.jsonl', [a, b]);
    folder.list('signed.pdf', 'ab'.repeat(32));
    await folder.close();
    expect(await read('envelope.json')).toBe('{\n  "id": "env_1",\n  "subject": "\\u202e"\n}\n');
    expect(await read('entries.jsonl')).toBe(`${JSON.stringify(a)}\n${JSON.stringify(b)}\n`);
    const hashes = [
      ['entries.jsonl', sha256(await read('entries.jsonl'))],
      ['envelope.json', sha256(await read('envelope.json'))],
      ['signed.pdf', 'ab'.repeat(32)],
    ];
    expect([...folder.files].sort()).toEqual(hashes);
    expect(await read('SHA256SUMS')).toBe(hashes.map(([name, hash]) => `${hash}  ${name}\n`).join(''));
  });

  it('contains one envelope', async () => {
    const folder = await open();
    await folder.writeJson('envelope.json', { id: 'env_1' });
    await open();
    await expect(open('env_2')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('env_1') as unknown,
    });
    for (const text of ['not JSON', '{}', '{"id":1}']) {
      await writeFile(join(dir, 'envelope.json'), text);
      await expect(open()).rejects.toMatchObject({ code: 'USAGE' });
      expect(await readdir(dir)).toEqual(['envelope.json']);
    }
  });

  it('rewrites only files that have changed', async () => {
    const write = async (text: string) => {
      await (await open()).write('page.html', text);
      return (await stat(join(dir, 'page.html'))).ino;
    };
    const first = await write('same');
    expect(await write('same')).toBe(first);
    expect(await write('other')).not.toBe(first);
    expect(await read('page.html')).toBe('other');
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'the folder',
      async () => {
        await writeFile(dir, '');
        await open();
      },
    ],
    [
      'the envelope',
      async () => {
        await mkdir(join(dir, 'envelope.json'));
        await open();
      },
    ],
    [
      'a file',
      async () => {
        await mkdir(join(dir, 'page.html'));
        await (await open()).write('page.html', '');
      },
    ],
    [
      'earlier entries',
      async () => {
        await mkdir(join(dir, 'entries.jsonl'));
        await (await open()).withEarlier('entries.jsonl', [a], entries);
      },
    ],
    [
      'the list of hashes',
      async () => {
        const folder = await open();
        folder.list('signed.pdf', 'ab'.repeat(32));
        await rm(dir, { recursive: true });
        await writeFile(dir, '');
        await folder.close();
      },
    ],
  ])('fails if %s is not usable', async (what, run) => {
    await mkdir(what === 'the folder' ? join(dir, '..') : dir, { recursive: true });
    await expect(run()).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
  });
});

describe('entries of an earlier run', () => {
  it('are kept and updated, in order', async () => {
    expect(await collect([c, a])).toEqual(['a1', 'c3']);
    // Comments in the list of hashes don't matter.
    await appendFile(join(dir, 'SHA256SUMS'), '# mine\n');
    expect(await collect([{ key: 'c', value: 4 }, b])).toEqual(['a1', 'b2', 'c4']);
    expect(await collect([])).toEqual(['a1', 'b2', 'c4']);
    expect(await collect([], { force: true })).toEqual(['a1', 'b2', 'c4']);
  });

  it('are accepted after a run that was killed, if they are current entries', async () => {
    await collect([a, b], { end: 'killed' });
    expect(await collect([c, b, a])).toEqual(['a1', 'b2', 'c3']);
  });

  it.each<[string, () => Promise<unknown>, Entry[]]>([
    ['were changed', () => writeFile(join(dir, 'entries.jsonl'), `${jsonText(b)}\n`), [a]],
    [
      'were partly changed',
      () => writeFile(join(dir, 'entries.jsonl'), `${jsonText(a)}\n${jsonText(b)}\n`),
      [a],
    ],
    ['are of a killed run, but no longer current', () => rm(join(dir, 'SHA256SUMS')), []],
  ])('are refused and left unchanged if they %s, except with force', async (_, change, now) => {
    await collect([a]);
    await change();
    const before = await read('entries.jsonl');
    await expect(collect(now)).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    expect(await read('entries.jsonl')).toBe(before);
    expect(await collect(now, { force: true })).toEqual(now.map(({ key, value }) => `${key}${value}`));
  });

  it('are refused if they have another form', async () => {
    const folder = await open();
    await folder.writeLines('entries.jsonl', [{ key: 'a' }]);
    await folder.close();
    await expect(collect([a])).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
  });
});

describe('when and how the evidence was collected', () => {
  const first: Collection = {
    collectedAt: '2026-03-01T10:00:00Z',
    version: '1',
    baseUrl: 'https://a',
    account: 'org_1',
  };
  const later: Collection = { ...first, collectedAt: '2026-03-02T10:00:00Z', version: '2' };

  async function collectedBy(now: Collection, page = 'same') {
    const folder = await open();
    await folder.write('other.html', '');
    await folder.write('page.html', page);
    const collection = await folder.collection(now);
    await folder.close();
    expect(JSON.parse(await read('collection.json'))).toEqual(collection);
    return collection;
  }

  it('is kept from the first run as long as nothing else changes', async () => {
    expect(await collectedBy(first)).toEqual(first);
    expect(await collectedBy(later)).toEqual(first);
    expect(await collectedBy(later, 'changed')).toEqual(later);
  });

  it.each<[string, Partial<Collection>]>([
    ['another service', { baseUrl: 'https://b' }],
    ['another account', { account: null }],
  ])('is new for %s', async (_, more) => {
    await collectedBy(first);
    expect(await collectedBy({ ...later, ...more })).toEqual({ ...later, ...more });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['changed', () => writeFile(join(dir, 'collection.json'), jsonText({ ...first, version: '3' }))],
    ['deleted', () => rm(join(dir, 'collection.json'))],
  ])('is new if the file was %s', async (_, change) => {
    await collectedBy(first);
    await change();
    expect(await collectedBy(later)).toEqual(later);
  });
});
