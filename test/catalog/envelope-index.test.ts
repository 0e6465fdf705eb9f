import { copyFileSync, renameSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { FileStore } from '../../src/catalog/index/file-store.ts';
import type { IndexStore } from '../../src/catalog/index/index-store.ts';
import { IndexWriter } from '../../src/catalog/index/index-writer.ts';
import { MemoryStore } from '../../src/catalog/index/memory-store.ts';
import { readIndex } from '../../src/catalog/index/read-index.ts';
import { searchIndex } from '../../src/catalog/index/search-index.ts';
import type { Selection } from '../../src/catalog/selection.ts';
import { collectAll } from '../../src/kernel/streams.ts';
import { clientFor } from '../support/client.ts';
import { newFolder } from '../support/folder.ts';
import { ModelService, summaryOf } from '../support/model-service.ts';

/* One index in processes that run for a long time, as an assistant's server does, and at the same time. */
let service: ModelService;
let folder: string;
let path: string;

beforeEach(async () => {
  service = await ModelService.start();
  folder = newFolder();
  path = join(folder, 'index.jsonl');
});

/** A process that uses the index. */
function process(store: IndexStore = new FileStore(path)) {
  const writer = new IndexWriter(store);
  const client: Client = clientFor(new URL(service.env.ESIGN_BASE_URL ?? '').origin, {
    onEnvelope: (seen, source) => {
      if (source !== 'list') writer.envelope(seen, source === 'get');
    },
  });
  const find = async (selection: Selection) => {
    const { envelopes } = await searchIndex({ client, writer }, selection, {});
    return (await collectAll(envelopes)).map(summaryOf);
  };
  return { find };
}

describe('an index', () => {
  it('is built again if its file disappears while a process uses it', async () => {
    for (let n = 0; n < 30; n++) service.make();
    for (let n = 0; n < 20; n++) service.move(`env_${n}`, 'COMPLETED');
    const here = process();
    const words = ['ada'];
    expect(await here.find({ words })).toEqual(service.truth('ada'));
    await rm(path);
    expect(await here.find({ words })).toEqual(service.truth('ada'));
    await rm(path);
    service.move('env_25', 'CANCELLED');
    expect(await here.find({ words })).toEqual(service.truth('ada'));
  });

  it('finds the same in memory, from several writes, and after changes', async () => {
    for (let n = 0; n < 130; n++) service.make();
    const here = process(new MemoryStore());
    const words = ['ada'];
    expect(await here.find({ words })).toEqual(service.truth('ada'));
    // The pages of the list: nothing that was read is requested again.
    expect(service.requests).toBe(2);
    for (let n = 0; n < 130; n += 3) service.move(`env_${n}`, 'COMPLETED');
    service.make();
    expect(await here.find({ words })).toEqual(service.truth('ada'));
    const statuses = ['COMPLETED'];
    expect(await here.find({ words, statuses })).toEqual(service.truth('ada', statuses));
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['with a count', true],
    ['without a count', false],
  ])('misses nothing if another process rewrites it while new envelopes are added: %s', async (_, counts) => {
    service.reading.counts = counts;
    for (let n = 0; n < 20; n++) service.make();
    const here = process();
    const words = ['ada'];
    await here.find({ words });
    copyFileSync(path, `${path}.before`);
    for (let n = 0; n < 150; n++) service.make();
    let rewritten = 0;
    service.onPage = (page) => {
      // The lines of the first page were already appended to the file that is replaced.
      if (page === 2 && rewritten++ === 0) renameSync(`${path}.before`, path);
    };
    expect(await here.find({ words })).toEqual(service.truth('ada'));
    expect(rewritten).toBeGreaterThan(0);
    // Another process relies on what was recorded as complete.
    expect(await process().find({ words })).toEqual(service.truth('ada'));
  });

  it('misses nothing if two processes read and change envelopes at the same time', async () => {
    const [here, there] = [process(), process()];
    for (let round = 0; round < 8; round++) {
      for (let n = 0; n < 15; n++) service.make();
      for (let n = 0; n < 9; n++) service.move(`env_${round * 15 + n}`, n % 2 ? 'COMPLETED' : 'IN_PROGRESS');
      const all = await Promise.all([
        here.find({ words: ['ada'] }),
        there.find({ words: ['lease'] }),
        here.find({ words: ['ada'], statuses: ['IN_PROGRESS'] }),
      ]);
      expect(all).toEqual([
        service.truth('ada'),
        service.truth('lease'),
        service.truth('ada', ['IN_PROGRESS']),
      ]);
    }
    // The next reading compacts it to what is live.
    const [{ known, live }, { size }] = [await readIndex(new FileStore(path)), await stat(path)];
    expect(known.size).toBe(8 * 15);
    expect(size).toBeLessThan(5 * live);
  });
});
