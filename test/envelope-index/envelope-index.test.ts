import fs, { existsSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RateWindow } from '../../src/api/rate/rate-window.ts';
import { WindowFile } from '../../src/api/rate/window-file.ts';
import { EnvelopeIndex, type IndexProgress } from '../../src/envelope-index/envelope-index.ts';
import { queryIndex } from '../../src/envelope-index/query.ts';
import { fakeClock } from '../support/clock.ts';
import { isPrivate } from '../support/private.ts';
import { selectionOf } from '../support/selection.ts';
import { ask, indexOf, ModelService, type Reading } from './model-service.ts';

const MB = 1024 * 1024;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function world(reading: Partial<Reading> = {}) {
  const service = await ModelService.start(reading);
  const folder = await mkdtemp(join(tmpdir(), 'esign-index-'));
  closers.push(() => service.close());
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return { service, folder };
}
const file = async (folder: string) => {
  const [name = ''] = (await readdir(join(folder, 'index'))).filter((one) => one.endsWith('.jsonl'));
  return join(folder, 'index', name);
};

const readings: [string, Partial<Reading>][] = [
  ['newest first', {}],
  ['oldest first', { order: 'oldest-first' }],
  ['in no order', { order: 'none' }],
  ['without signers', { items: 'summary' }],
  ['without signers, oldest first', { items: 'summary', order: 'oldest-first' }],
  ['without a count', { counts: false }],
  ['without a count, in no order', { counts: false, order: 'none' }],
];

describe('the index of a service that lists', () => {
  it.each(readings)('finds every envelope %s, and requests nothing twice', async (_, reading) => {
    const { service, folder } = await world(reading);
    for (let n = 0; n < 730; n++) service.make();
    for (let n = 0; n < 700; n++) service.move(`env_${n}`, n % 3 === 0 ? 'CANCELLED' : 'COMPLETED');
    const first = await ask(service, folder, { search: 'ada' });
    expect(first.answers).toEqual(service.truth({ search: 'ada' }));
    // A page for a hundred; if it has too few fields, one request per envelope; and the active ones again.
    expect(first.requests).toBeLessThanOrEqual((reading.items === 'summary' ? 730 : 0) + 8 + 2 + 30);

    const again = await ask(service, folder, { search: 'no7' });
    expect(again.answers).toEqual(service.truth({ search: 'no7' }));
    const active = again.answers.filter((one) => one.includes('SENT')).length;
    const pages = reading.counts === false && reading.order === 'none' ? 10 : 5;
    expect(again.requests).toBeLessThanOrEqual(pages + active);
  });

  it.each(readings)('finds new envelopes %s, and the changes of the others', async (_, reading) => {
    const { service, folder } = await world(reading);
    for (let n = 0; n < 250; n++) service.make();
    await ask(service, folder, { search: 'ada' });
    for (let n = 0; n < 130; n++) service.make();
    service.move('env_7', 'COMPLETED');
    service.move('env_300', 'DECLINED');
    for (const selection of [{ search: 'no7' }, { search: 'ada' }, { signer: 'DA300@' }, { search: 'd-30' }])
      expect((await ask(service, folder, selection)).answers).toEqual(service.truth(selection));
    service.move('env_300', 'CANCELLED');
    const done = { search: 'ada', statuses: ['CANCELLED', 'COMPLETED'] };
    expect((await ask(service, folder, done)).answers).toEqual(service.truth(done));
  });
});

describe('many active envelopes', () => {
  it('are updated from the list if it has enough fields', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 730; n++) service.make();
    await ask(service, folder, { search: 'ada' });
    service.move('env_3', 'COMPLETED');
    const all = await ask(service, folder, { search: 'ada' });
    expect(all.answers).toEqual(service.truth({ search: 'ada' }));
    // The first page for new envelopes, then every page.
    expect(all.requests).toBe(1 + 8);
  });
});

describe('a full refresh', () => {
  const refreshed = async (service: ModelService, folder: string) => {
    const { index, feed } = indexOf(service, folder);
    const before = service.requests;
    await index.refreshAll();
    await feed.finish();
    return service.requests - before;
  };

  it('reads the list if that takes fewer requests than each active envelope', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 730; n++) service.make();
    await refreshed(service, folder);
    service.move('env_3', 'COMPLETED');
    expect(await refreshed(service, folder)).toBe(1 + 8);
    const { answers } = await ask(service, folder, { search: 'no3' }, { cached: true });
    expect(answers).toContain('env_3 COMPLETED SIGNED');
  });

  it('reads each active envelope if the list omits signers', async () => {
    const { service, folder } = await world({ items: 'summary' });
    for (let n = 0; n < 230; n++) service.make();
    for (let n = 0; n < 200; n++) service.move(`env_${n}`, 'CANCELLED');
    await refreshed(service, folder);
    expect(await refreshed(service, folder)).toBeLessThanOrEqual(3 + 30);
  });
});

describe('a query by status or time', () => {
  it('reads only the envelopes that may match, if the list omits signers', async () => {
    const { service, folder } = await world({ items: 'summary' });
    for (let n = 0; n < 40; n++) {
      service.make();
      if (n >= 5) service.move(`env_${n}`, 'CANCELLED');
    }
    const open = await ask(service, folder, { search: 'ada', statuses: ['SENT'] });
    expect(open.answers).toHaveLength(5);
    expect(open.requests).toBe(1 + 5);
    const all = await ask(service, folder, { search: 'ada' });
    expect(all.answers).toHaveLength(40);
  });
});

describe('after the service was reset', () => {
  it.each(readings)('removes missing envelopes with the first search: %s', async (_, reading) => {
    const { service, folder } = await world(reading);
    for (let n = 0; n < 250; n++) {
      service.make();
      service.move(`env_${n}`, 'CANCELLED');
    }
    await ask(service, folder, { search: 'ada' });
    service.reset(4 * 86_400_000);
    for (let n = 0; n < 240; n++) {
      service.make({ id: `env_new${n}` });
      service.move(`env_new${n}`, 'CANCELLED');
    }
    const first = await ask(service, folder, { search: 'no1' });
    expect(first.answers.sort()).toEqual(service.truth({ search: 'no1' }).sort());
    const again = await ask(service, folder, { search: 'no23' });
    expect(again.answers.sort()).toEqual(service.truth({ search: 'no23' }).sort());
    expect(again.requests).toBeLessThanOrEqual(reading.counts === false && reading.order === 'none' ? 4 : 3);
  });
});

describe('an envelope that changes late', () => {
  /** It is no longer on the page that shows new envelopes. */
  async function oldOne(status: string) {
    const { service, folder } = await world();
    service.make();
    for (let n = 1; n < 250; n++) {
      service.make();
      service.move(`env_${n}`, 'CANCELLED');
    }
    service.move('env_0', status);
    await ask(service, folder, { search: 'ada' });
    return { service, folder };
  }

  it('is found as CANCELLED after it was DECLINED', async () => {
    const { service, folder } = await oldOne('DECLINED');
    service.move('env_0', 'CANCELLED');
    const cancelled = { search: 'd-0', statuses: ['CANCELLED'] };
    expect((await ask(service, folder, cancelled)).answers).toEqual(['env_0 CANCELLED SENT']);
  });

  it('is read again while it is DECLINED', async () => {
    const { service, folder } = await oldOne('DECLINED');
    service.move('env_0', 'CANCELLED');
    expect((await ask(service, folder, { search: 'd-0' })).answers).toEqual(['env_0 CANCELLED SENT']);
  });

  it('shows its documents once they are stored, even if it was known as COMPLETED', async () => {
    const { service, folder } = await world();
    const completed = { status: 'COMPLETED', completedAt: new Date().toISOString() };
    service.make({ id: 'env_late', metadata: { deal: 'late' }, ...completed });
    for (let n = 0; n < 150; n++) {
      const { id } = service.make();
      service.move(id, 'CANCELLED');
    }
    await ask(service, folder, { search: 'late' });
    const late = service.envelopes.get('env_late');
    service.envelopes.set('env_late', {
      id: 'env_late',
      ...late,
      signedDocumentStorageKey: 'signed.pdf',
      certificateStorageKey: 'certificate.pdf',
    });
    const { index } = indexOf(service, folder);
    const answer = await queryIndex(index, selectionOf({ search: 'late' }), {});
    const keys: unknown[] = [];
    for await (const one of answer.envelopes) keys.push(one.signedDocumentStorageKey);
    expect(keys).toEqual(['signed.pdf']);
  });
});

describe('an update of the index', () => {
  /** An index with this many envelopes, of which none was read one by one. */
  async function listed(count: number) {
    const { service, folder } = await world({ items: 'summary' });
    for (let n = 0; n < count; n++) service.make();
    const { index, feed, client } = indexOf(service, folder);
    await index.refresh({ createdAfter: () => Number.POSITIVE_INFINITY });
    return { service, folder, index, feed, client };
  }

  /** Another process that holds the lock until it is released. */
  async function holdLock({ file }: EnvelopeIndex) {
    let held = Promise.resolve();
    const release = await new Promise<() => void>((taken) => {
      held = file.withLock(() => new Promise<void>((finish) => taken(finish)));
    });
    return { release, held };
  }

  it('reads every partly known envelope unless told otherwise', async () => {
    const { service, index } = await listed(3);
    const before = service.requests;
    const { snapshot } = await index.refresh(selectionOf({ search: 'ada' }));
    expect([...snapshot.known.values()].map(({ known }) => known)).toEqual(['whole', 'whole', 'whole']);
    expect(service.requests - before).toBe(1 + 3);
  });

  it.each([
    [20, false],
    [21, true],
  ])('of %i envelopes waits for another process: %s', async (count, waits) => {
    const { index } = await listed(count);
    const { release, held } = await holdLock(index);
    const steps: IndexProgress[] = [];
    const onProgress = (step: IndexProgress) => {
      steps.push(step);
      if (step.step === 'other-process') release();
    };
    await index.refresh(selectionOf({ search: 'ada' }), { onProgress });
    release();
    await held;
    const first = { step: 'other-process', done: 0, total: undefined };
    expect(steps.filter(({ step }) => step === 'other-process')).toEqual(waits ? [first] : []);
  });

  it('that is the first waits for another process, however few envelopes there are', async () => {
    const { service, folder } = await world();
    const { index } = indexOf(service, folder);
    const { release, held } = await holdLock(index);
    const onProgress = vi.fn(() => release());
    await index.refresh({}, { onProgress });
    expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ step: 'other-process' }));
    await held;
  });

  it.each([
    [20, 0],
    [21, 1],
  ])('that reads %i active envelopes leaves the reserve %i times', async (count, times) => {
    const { folder, feed, client, index } = await listed(count);
    await index.refresh(selectionOf({ search: 'ada' }));
    const counter = new WindowFile(folder, 'https://x.example', 'sk_1');
    const window = new RateWindow({ clock: fakeClock(), reserve: 0, maxWaitMs: 0, counter });
    const withReserve = vi.spyOn(window, 'withReserve');
    await new EnvelopeIndex(feed, { ...client, window }).refreshAll();
    expect(withReserve).toHaveBeenCalledTimes(times);
  });

  it('removes unused indexes the first time only', async () => {
    const { service, folder } = await world();
    const { index } = indexOf(service, folder);
    const unused = join(folder, 'index', 'unused.jsonl');
    const leave = async () => {
      await mkdir(join(folder, 'index'), { recursive: true, mode: 0o700 });
      await writeFile(unused, '');
      await utimes(unused, 0, 0);
    };
    await leave();
    await index.refresh({});
    expect(existsSync(unused)).toBe(false);
    await leave();
    await index.refresh({});
    expect(existsSync(unused)).toBe(true);
  });

  it('fails if the index cannot be written', async () => {
    const { service, index } = await listed(1);
    service.make();
    vi.spyOn(fs, 'statfsSync').mockReturnValue({ ...fs.statfsSync('/'), blocks: 1, bavail: 0 });
    syncBuiltinESMExports();
    try {
      await expect(index.refresh({})).rejects.toMatchObject({ name: 'IndexUnusable' });
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    }
  });
});

describe('a single envelope', () => {
  it('is removed from the index if the service no longer has it, but not after another error', async () => {
    const { service, folder } = await world();
    service.make();
    const { index, feed, client } = indexOf(service, folder);
    await index.refresh({});
    const get = () => Promise.reject(new Error('unavailable'));
    const failing = new EnvelopeIndex(feed, { ...client, envelopes: { ...client.envelopes, get } });
    await expect(failing.current('env_0')).rejects.toThrow('unavailable');
    expect((await index.known()).known.has('env_0')).toBe(true);
    service.envelopes.clear();
    expect(await index.current('env_0')).toBeUndefined();
    expect((await index.known()).known.has('env_0')).toBe(false);
  });
});

describe('the progress of an update', () => {
  it('counts the pages of the list, and the envelopes that are read one by one', async () => {
    const { service, folder } = await world({ items: 'summary' });
    for (let n = 0; n < 3; n++) service.make();
    const { index } = indexOf(service, folder);
    const steps: unknown[] = [];
    const onProgress = (step: unknown) => void steps.push(step);
    service.move('env_1', 'CANCELLED');
    await index.refresh(selectionOf({ search: 'ada', statuses: ['SENT'] }), { onProgress });
    expect(steps).toEqual([
      { step: 'list', done: 3, total: 3 },
      { step: 'each', done: 1, total: 2 },
      { step: 'each', done: 2, total: 2 },
    ]);
  });

  it('counts the envelopes of a list that is read again', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 3; n++) service.make();
    const { index } = indexOf(service, folder);
    const steps: unknown[] = [];
    const onProgress = (step: unknown) => void steps.push(step);
    await index.refresh({}, { onProgress, outdated: ({ snapshot }) => [...snapshot.known.values()] });
    expect(steps).toEqual([3, 1, 2, 3].map((done) => ({ step: 'list', done, total: 3 })));
  });
});

describe('a result', () => {
  it('has a total if the index shows every match', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 5; n++) service.make();
    const totalOf = async (selection: Parameters<typeof ask>[2], limit?: number) =>
      (await ask(service, folder, selection, limit === undefined ? {} : { limit })).total;
    expect(await totalOf({ search: 'ada' }, 2)).toBe(5);
    expect(await totalOf({ search: 'ada', statuses: undefined }, 2)).toBe(5);
    expect(await totalOf({ search: 'ada', statuses: ['SENT'] }, 2)).toBeUndefined();
    expect(await totalOf({ search: 'ada', statuses: ['SENT'] })).toBe(5);
  });

  it('takes a request for each envelope within its limit', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 250; n++) service.make();
    await ask(service, folder, { search: 'ada' });
    expect((await ask(service, folder, { search: 'no3' }, { limit: 2 })).requests).toBe(1 + 2);
  });

  it('is empty without an index, if only the index may be used', async () => {
    const { service, folder } = await world();
    service.make();
    const options = { cached: true, oneSignerFirst: true };
    const result = await ask(service, folder, { search: 'ada example' }, options);
    expect(result).toEqual({ answers: [], requests: 0, total: 0 });
  });

  it('excludes deleted envelopes from its total', async () => {
    const { service, folder } = await world({ counts: false });
    for (let n = 0; n < 250; n++) service.make();
    await ask(service, folder, { search: 'ada' });
    service.envelopes.delete('env_249');
    const { answers, total } = await ask(service, folder, { search: 'ada' }, { limit: 3 });
    expect([answers.length, total]).toEqual([3, 249]);
  });

  it('has the same order for any list order, including envelopes created at the same time', async () => {
    const createdAt = '2026-01-01T08:00:00.000Z';
    const orders = [];
    for (const order of ['newest-first', 'oldest-first'] as const) {
      const { service, folder } = await world({ order });
      for (let n = 0; n < 12; n++) service.make({ createdAt });
      orders.push((await ask(service, folder, { search: 'ada' })).answers);
    }
    expect(orders[0]).toHaveLength(12);
    expect(orders[0]).toEqual([...(orders[0] ?? [])].sort().reverse());
    expect(orders[0]).toEqual(orders[1]);
  });

  it('lists envelopes that match in one signer first only if requested', async () => {
    const { service, folder } = await world();
    const person = (name: string, email: string) => ({ id: `s_${email}`, name, email, status: 'SENT' });
    service.make({ signers: [person('Maria Silva', 'ms@example.com'), person('Bo', 'bo@example.com')] });
    service.make({ signers: [person('Maria', 'silva.maria@example.com')] });
    service.make({
      signers: [person('Maria Rossi', 'mr@example.com'), person('Lena Silva', 'ls@example.com')],
    });
    const ids = ({ answers }: { answers: string[] }) => answers.map((one) => one.split(' ')[0]);
    const words = { search: 'maria silva' };
    expect(ids(await ask(service, folder, words))).toEqual(['env_2', 'env_1', 'env_0']);
    const ranked = await ask(service, folder, words, { oneSignerFirst: true });
    expect(ids(ranked)).toEqual(['env_1', 'env_0', 'env_2']);
    expect(ids(await ask(service, folder, words, { oneSignerFirst: true, limit: 1 }))).toEqual(['env_1']);
    service.envelopes.delete('env_0');
    expect(ids(await ask(service, folder, words, { oneSignerFirst: true }))).toEqual(['env_1', 'env_2']);
    service.make({ subject: 'For Maria' });
    const one = { search: 'maria' };
    expect(ids(await ask(service, folder, one, { oneSignerFirst: true }))).toEqual([
      'env_3',
      'env_2',
      'env_1',
    ]);
    expect(ids(await ask(service, folder, {}, { oneSignerFirst: true }))).toHaveLength(3);
  });

  it('shows the status that a webhook reported, without a request', async () => {
    const { service, folder } = await world();
    service.make();
    service.make();
    await ask(service, folder, { search: 'ada' });
    const { feed } = indexOf(service, folder);
    feed.touched('env_0', 'DECLINED');
    await feed.finish();
    const { answers, requests } = await ask(service, folder, { search: 'ada' }, { cached: true });
    expect(answers).toEqual(['env_1 SENT SENT', 'env_0 DECLINED SENT']);
    expect(requests).toBe(0);
  });

  it.runIf(process.platform === 'linux')('leaves no file open', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 3; n++) service.make();
    const search = () => ask(service, folder, { search: 'ada example' }, { oneSignerFirst: true, limit: 1 });
    await search();
    const open = async () => {
      const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`));
      const paths = (await Promise.allSettled(links)).flatMap((one) =>
        one.status === 'fulfilled' ? one.value : [],
      );
      return paths.filter((path) => path.startsWith(folder));
    };
    await search();
    expect(await open()).toEqual([]);
  });
});

const READINGS = fc.record({
  order: fc.constantFrom<Reading['order'][]>('newest-first', 'oldest-first', 'none'),
  items: fc.constantFrom<Reading['items'][]>('whole', 'summary'),
  counts: fc.boolean(),
});
/** Possible steps: at the service, on this machine, and a query. */
const STEPS = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('make' as const), many: fc.constantFrom(1, 2, 40, 120) }),
    fc.record({
      do: fc.constant('move' as const),
      which: fc.nat(300),
      to: fc.constantFrom('IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'),
    }),
    fc.record({ do: fc.constant('read' as const), which: fc.nat(300) }),
    fc.record({ do: fc.constant('list' as const), status: fc.constantFrom(undefined, 'SENT', 'COMPLETED') }),
    fc.record({
      do: fc.constant('webhook' as const),
      which: fc.nat(300),
      says: fc.constantFrom('SENT', 'COMPLETED'),
    }),
    fc.record({ do: fc.constant('damage' as const), at: fc.nat(1_000_000) }),
    fc.record({ do: fc.constant('reset' as const) }),
    fc.record({
      do: fc.constant('ask' as const),
      search: fc.constantFrom('ada', 'no1', 'lease', 'd-2', '1003'),
      statuses: fc.constantFrom(undefined, ['SENT'], ['COMPLETED', 'CANCELLED']),
      limit: fc.constantFrom(undefined, 3),
    }),
  ),
  { minLength: 3, maxLength: 14 },
);
/** The service never returns to a state that it has left. */
const ENDED = ['COMPLETED', 'CANCELLED', 'EXPIRED'];

type World = Awaited<ReturnType<typeof world>>;
type Step = typeof STEPS extends fc.Arbitrary<(infer One)[]> ? One : never;

/** The effect of each step except queries. */
async function happen({ service, folder }: World, step: Step): Promise<void> {
  const { feed, client } = indexOf(service, folder);
  const id = 'which' in step ? `env_${step.which}` : '';
  const status = service.envelopes.get(id)?.status ?? 'COMPLETED';
  switch (step.do) {
    case 'make':
      for (let n = 0; n < step.many; n++) service.make();
      break;
    case 'move':
      if (!ENDED.includes(status)) service.move(id, step.to);
      break;
    case 'read':
      await client.envelopes.get(id).catch(() => undefined);
      break;
    case 'list':
      for await (const _ of client.envelopes.list({ status: step.status }));
      break;
    case 'webhook':
      if (service.envelopes.has(id)) feed.touched(id, step.says);
      break;
    case 'damage':
      await damage(folder, step.at);
      break;
    case 'reset':
      service.envelopes.clear();
      break;
    case 'ask':
  }
  await feed.finish();
}

const LAST = { do: 'ask', search: 'ada', statuses: undefined, limit: undefined } as const;

describe('after any history', () => {
  it('returns the state of the service', async () => {
    await fc.assert(
      fc.asyncProperty(READINGS, STEPS, async (reading, steps) => {
        const { service, folder } = await world(reading);
        for (const step of [...steps, LAST]) {
          if (step.do !== 'ask') {
            await happen({ service, folder }, step);
            continue;
          }
          const { limit, search, statuses } = step;
          const options = limit === undefined ? {} : { limit };
          const { answers } = await ask(service, folder, { search, statuses }, options);
          expect(answers).toEqual(service.truth({ search, statuses }).slice(0, limit));
        }
      }),
      { numRuns: Number(process.env.INDEX_RUNS ?? 12) },
    );
  }, 120_000);
});

/** Changes one byte of the index, anywhere. */
async function damage(folder: string, at: number): Promise<void> {
  const path = await file(folder).catch(() => undefined);
  if (path === undefined) return;
  const bytes = await readFile(path);
  bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 0x11;
  await writeFile(path, bytes);
}

describe('the file of an index', () => {
  it('is readable only by its owner, and contains no names', async () => {
    const { service, folder } = await world();
    service.make();
    await ask(service, folder, { search: 'ada' });
    const path = await file(folder);
    expect(path).toMatch(/[\\/]index[\\/][0-9a-f]{16}-[0-9a-f]{16}\.jsonl$/);
    expect([isPrivate(path), isPrivate(join(folder, 'index'))]).toEqual([true, true]);
  });

  it('is private from its first line', async () => {
    const { service, folder } = await world();
    service.make();
    const { client, feed } = indexOf(service, folder);
    await client.envelopes.get('env_0');
    await feed.finish();
    expect(isPrivate(await file(folder))).toBe(true);
  });

  it('contains what the search for recent envelopes read', async () => {
    const { service, folder } = await world();
    service.make();
    const { client, feed, index } = indexOf(service, folder);
    for await (const _ of client.envelopes.recent(() => 0));
    await feed.finish();
    expect([...(await index.known()).known.keys()]).toEqual(['env_0']);
  });

  it('is rewritten when it has grown without need, and stays complete', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 120; n++) service.make({ message: 'x'.repeat(20_000) });
    await ask(service, folder, { search: 'ada' }, { limit: 1 });
    const { size } = await stat(await file(folder));
    for (let n = 0; n < 4; n++)
      expect((await ask(service, folder, { search: 'ada' })).answers).toHaveLength(120);
    expect((await stat(await file(folder))).size).toBeLessThan(4 * size);
  });

  it("doesn't delay the end of a command while another process builds it", async () => {
    const { service, folder } = await world();
    service.make();
    await ask(service, folder, { search: 'ada' });
    const path = await file(folder);
    const { index, feed, client } = indexOf(service, folder);
    // Whenever the file has grown by another 32 MB, a command checks at its end whether to rewrite it.
    const endOfCommand = async () => {
      await appendFile(path, `${' '.repeat(32 * MB - 10 - ((await stat(path)).size % (32 * MB)))}\n`);
      service.move('env_0', service.requests % 2 ? 'SENT' : 'DRAFT');
      await client.envelopes.get('env_0');
      await feed.finish();
      return (await stat(path)).size;
    };
    let finish = () => {};
    const building = index.file.withLock(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(await endOfCommand()).toBeGreaterThan(32 * MB);
    finish();
    await building;
    expect(await endOfCommand()).toBeLessThan(MB);
  });

  it('is rebuilt if it is of another version', async () => {
    const { service, folder } = await world();
    service.make();
    await ask(service, folder, { search: 'ada' });
    await writeFile(await file(folder), '{"journal":"envelope-index","version":99}\n');
    expect((await ask(service, folder, { search: 'ada' })).answers).toEqual(service.truth({ search: 'ada' }));
  });
});

describe('two processes at the same time', () => {
  it('read each envelope once between them', async () => {
    const { service, folder } = await world({ items: 'summary' });
    for (let n = 0; n < 300; n++) {
      service.make();
      service.move(`env_${n}`, 'CANCELLED');
    }
    const both = await Promise.all([1, 2].map(() => ask(service, folder, { search: 'ada' })));
    for (const { answers } of both) expect(answers).toEqual(service.truth({ search: 'ada' }));
    expect(service.requests).toBeLessThanOrEqual(300 + 3 + 3 + 2);
  });
});
