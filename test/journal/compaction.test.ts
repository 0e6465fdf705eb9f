import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Compaction } from '../../src/journal/compaction.ts';
import { Journal } from '../../src/journal/journal.ts';
import type { JournalFormat } from '../../src/journal/scan.ts';
import { isRecord } from '../../src/kernel/json.ts';

/** Sets a number under a name. */
interface Entry {
  name: string;
  value: number;
  filling?: string;
}

const format: JournalFormat<Entry> = {
  kind: 'test',
  version: 1,
  read: (value) =>
    isRecord(value) && typeof value.name === 'string' && typeof value.value === 'number'
      ? { name: value.name, value: value.value }
      : undefined,
};

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-compaction-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A map whose journal is compacted: changed when an entry is on disk. */
class Numbers {
  readonly all = new Map<string, number>();
  readonly #journal: Promise<Journal<Entry>>;

  constructor(path: string, least: number, snapshot?: () => Iterable<Entry>) {
    const compaction: Compaction<Entry> = { least, snapshot: snapshot ?? (() => this.#entries()) };
    this.#journal = Journal.open({ path, format, compaction }, ({ name, value }) =>
      this.all.set(name, value),
    );
  }

  async set(name: string, value: number): Promise<void> {
    await (await this.#journal).append({ name, value, filling: 'x'.repeat(80) });
    this.all.set(name, value);
  }

  async close(): Promise<void> {
    await (await this.#journal).close();
  }

  get journal() {
    return this.#journal;
  }

  *#entries(): Iterable<Entry> {
    for (const [name, value] of this.all) yield { name, value };
  }
}

function path(): string {
  count += 1;
  return join(folder, String(count), 'numbers.jsonl');
}

async function reread(at: string): Promise<Record<string, number>> {
  const again = new Numbers(at, 1e9);
  await again.close();
  return Object.fromEntries(again.all);
}

describe('a compacted journal', () => {
  it('loses nothing that is appended meanwhile, and stays small', async () => {
    const at = path();
    const numbers = new Numbers(at, 10_000);
    for (let round = 0; round < 100; round += 1)
      await Promise.all(Array.from({ length: 20 }, (_, n) => numbers.set(`n${n}`, round)));
    await numbers.close();
    const expected = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, 99]));
    expect(Object.fromEntries(numbers.all)).toEqual(expected);
    expect(await reread(at)).toEqual(expected);
    // 2,000 entries of 120 bytes were written.
    expect((await stat(at)).size).toBeLessThan(60_000);
    expect(await readdir(dirname(at))).toEqual(['numbers.jsonl']);
  });

  it('keeps the entries appended during compaction, and lets other tasks run', async () => {
    const at = path();
    const read = { done: false };
    const isRead = () => read.done;
    const numbers = new Numbers(at, 50, function* () {
      for (let n = 0; n < 20_000; n += 1) yield { name: `s${n}`, value: n };
      read.done = true;
    });
    await numbers.set('first', 1);
    let turns = 0;
    let taken = 0;
    const taking = (async () => {
      for (; !isRead(); taken += 1) await numbers.set(`m${taken}`, taken);
    })();
    for (; !isRead(); turns += 1) await nextTurn();
    await taking;
    await numbers.close();
    expect(turns).toBeGreaterThan(4);
    expect(taken).toBeGreaterThan(0);
    expect(Object.keys(await reread(at))).toHaveLength(20_000 + taken);
  });

  it('is compacted again only when it has grown to twice its valid size', async () => {
    let times = 0;
    const counting = (numbers: () => Numbers) =>
      function* () {
        times += 1;
        for (const [name, value] of numbers().all) yield { name, value, filling: 'x'.repeat(80) };
      };
    const at = path();
    const numbers: Numbers = new Numbers(
      at,
      1_000,
      counting(() => numbers),
    );
    const fill = async (one: Numbers, from: number, to: number) => {
      for (let n = from; n < to; n += 1) await one.set(`n${n}`, n);
    };
    await fill(numbers, 0, 200);
    await numbers.close();
    const soFar = times;
    expect(soFar).toBeGreaterThan(2);
    expect(soFar).toBeLessThan(9);
    // Also after a restart: the size after the last compaction counts.
    const again: Numbers = new Numbers(
      at,
      1_000,
      counting(() => again),
    );
    await fill(again, 200, 210);
    await again.close();
    expect(times).toBeLessThanOrEqual(soFar + 1);
  });

  it("continues with the old file if it can't be compacted", async () => {
    const at = path();
    const numbers = new Numbers(at, 50, () => {
      throw new Error('no');
    });
    for (let n = 0; n < 50; n += 1) await numbers.set('n', n);
    await numbers.close();
    expect(await reread(at)).toEqual({ n: 49 });
    expect(await readdir(dirname(at))).toEqual(['numbers.jsonl']);
  });

  it('opens next to the files of a killed compaction', async () => {
    const at = path();
    const numbers = new Numbers(at, 1e9);
    await numbers.set('n', 1);
    await numbers.close();
    await writeFile(`${at}.new`, 'half');
    expect(await reread(at)).toEqual({ n: 1 });
    expect(await readdir(dirname(at))).toEqual(['numbers.jsonl']);
  });

  it('can be reopened during compaction', async () => {
    const at = path();
    const numbers = new Numbers(at, 5_000);
    for (let round = 0; round < 40; round += 1) {
      const sets = Array.from({ length: 20 }, (_, n) => numbers.set(`n${n}`, round));
      await (await numbers.journal).reopen();
      await Promise.all(sets);
    }
    await numbers.close();
    expect(await reread(at)).toEqual(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, 39])));
  });
});

describe('a journal that is replaced by another process', () => {
  it("contains the other's entries and those appended since, also during compaction", async () => {
    const other = path();
    const kept = new Numbers(other, 1e9);
    await kept.set('kept', 1);
    await kept.close();
    const at = path();
    const numbers = new Numbers(at, 50);
    const journal = await numbers.journal;
    for (let round = 0; round < 20; round++) {
      // Being written when the other one arrives, and enough for a compaction.
      const before = Array.from({ length: 40 }, (_, nth) =>
        journal.append({ name: `before${nth}`, value: round }),
      );
      const replaced = journal.replace(other);
      await Promise.all([...before, replaced]);
      await Promise.all([numbers.set('after', round), numbers.set('last', round)]);
      numbers.all.clear();
      for (const [name, value] of [
        ['kept', 1],
        ['after', round],
        ['last', round],
      ] as const)
        numbers.all.set(name, value);
    }
    await numbers.set('end', 1);
    await numbers.close();
    expect(await reread(at)).toMatchObject({ kept: 1, after: 19, last: 19, end: 1 });
    expect(await readdir(dirname(at))).toEqual(['numbers.jsonl']);
  });

  it('is unchanged without another one', async () => {
    const at = path();
    const numbers = new Numbers(at, 1e9);
    await numbers.set('own', 1);
    await expect((await numbers.journal).replace(join(folder, 'nowhere'))).rejects.toThrow(/does not exist/);
    await numbers.set('own', 2);
    await numbers.close();
    expect(await reread(at)).toEqual({ own: 2 });
  });
});
