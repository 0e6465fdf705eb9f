import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isPrivate } from '../support/private.ts';
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

describe('an index of a service that lists', () => {
  it.each(readings)('%s finds what there is, and asks for nothing twice', async (_, reading) => {
    const { service, folder } = await world(reading);
    for (let n = 0; n < 730; n++) service.make();
    for (let n = 0; n < 700; n++) service.move(`env_${n}`, n % 3 === 0 ? 'CANCELLED' : 'COMPLETED');
    const first = await ask(service, folder, { search: 'ada' });
    expect(first.answers).toEqual(service.truth({ search: 'ada' }));
    // A page for a hundred, and where that tells too little one request an envelope; and the active ones once more.
    expect(first.requests).toBeLessThanOrEqual((reading.items === 'summary' ? 730 : 0) + 8 + 2 + 30);

    const again = await ask(service, folder, { search: 'no7' });
    expect(again.answers).toEqual(service.truth({ search: 'no7' }));
    const active = again.answers.filter((one) => one.includes('SENT')).length;
    const pages = reading.counts === false && reading.order === 'none' ? 10 : 5;
    expect(again.requests).toBeLessThanOrEqual(pages + active);
  });

  it.each(readings)('%s learns what is new since, and what became of the others', async (_, reading) => {
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

describe('many that can still change', () => {
  it('are looked at by the list, where it tells as much', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 730; n++) service.make();
    await ask(service, folder, { search: 'ada' });
    service.move('env_3', 'COMPLETED');
    const all = await ask(service, folder, { search: 'ada' });
    expect(all.answers).toEqual(service.truth({ search: 'ada' }));
    // The first page for what is new, then every page.
    expect(all.requests).toBe(1 + 8);
  });
});

const READINGS = fc.record({
  order: fc.constantFrom<Reading['order'][]>('newest-first', 'oldest-first', 'none'),
  items: fc.constantFrom<Reading['items'][]>('whole', 'summary'),
  counts: fc.boolean(),
});
/** What may happen: at the service, on this machine, and a question. */
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
/** Where the service leaves a state, it never comes back. */
const ENDED = ['COMPLETED', 'CANCELLED', 'EXPIRED'];

type World = Awaited<ReturnType<typeof world>>;
type Step = typeof STEPS extends fc.Arbitrary<(infer One)[]> ? One : never;

/** What each step does but asking. */
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
  await feed.settle();
}

const LAST = { do: 'ask', search: 'ada', statuses: undefined, limit: undefined } as const;

describe('after any history', () => {
  it('the answer is what the service says', async () => {
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
      { numRuns: 60 },
    );
  }, 120_000);
});

/** Changes one byte of the index, wherever it is. */
async function damage(folder: string, at: number): Promise<void> {
  const path = await file(folder).catch(() => undefined);
  if (path === undefined) return;
  const bytes = await readFile(path);
  bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 0x11;
  await writeFile(path, bytes);
}

describe('the file of an index', () => {
  it('is for its owner alone, and tells no name', async () => {
    const { service, folder } = await world();
    service.make();
    await ask(service, folder, { search: 'ada' });
    const path = await file(folder);
    expect(path).toMatch(/[\\/]index[\\/][0-9a-f]{16}-[0-9a-f]{16}\.jsonl$/);
    expect([isPrivate(path), isPrivate(join(folder, 'index'))]).toEqual([true, true]);
  });

  it('is written anew when it has grown for nothing, and stays whole', async () => {
    const { service, folder } = await world();
    for (let n = 0; n < 120; n++) service.make({ message: 'x'.repeat(20_000) });
    await ask(service, folder, { search: 'ada' }, { limit: 1 });
    const { size } = await stat(await file(folder));
    for (let n = 0; n < 4; n++)
      expect((await ask(service, folder, { search: 'ada' })).answers).toHaveLength(120);
    expect((await stat(await file(folder))).size).toBeLessThan(4 * size);
  });

  it('is not waited for at the end of a command while another process builds it', async () => {
    const { service, folder } = await world();
    service.make();
    await ask(service, folder, { search: 'ada' });
    const path = await file(folder);
    const { index, feed, client } = indexOf(service, folder);
    // Whenever the file has grown past another 32 MB, a command looks at its end whether it should be written anew.
    const endOfCommand = async () => {
      await appendFile(path, `${' '.repeat(32 * MB - 10 - ((await stat(path)).size % (32 * MB)))}\n`);
      service.move('env_0', service.requests % 2 ? 'SENT' : 'DRAFT');
      await client.envelopes.get('env_0');
      await feed.settle();
      return (await stat(path)).size;
    };
    let finish = () => {};
    const building = index.file.alone(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(await endOfCommand()).toBeGreaterThan(32 * MB);
    finish();
    await building;
    expect(await endOfCommand()).toBeLessThan(MB);
  });

  it('of another version is made anew', async () => {
    const { service, folder } = await world();
    service.make();
    await ask(service, folder, { search: 'ada' });
    await writeFile(await file(folder), '{"journal":"envelope-index","version":99}\n');
    expect((await ask(service, folder, { search: 'ada' })).answers).toEqual(service.truth({ search: 'ada' }));
  });
});

describe('two at once', () => {
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
