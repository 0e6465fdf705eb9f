import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  checkRequestId,
  type LockedRequestId,
  type RequestIds,
  requestIdsIn,
  requestIdsInMemory,
} from '../../src/envelopes/request-ids/request-ids.ts';
import { contentOf, isOtherContent } from '../../src/envelopes/request-ids/same-content.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { UsageError } from '../../src/kernel/errors.ts';

const DAY_MS = 86_400_000;
const ada = { email: 'ada@example.com', name: 'Ada' };
const content = contentOf({ templateId: 'tmpl_1', signers: [ada] });
const time = { clock: systemClock, serviceClock: { now: () => 5 } };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-requests-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (account = 'account') => requestIdsIn(folder, { account, ...time });
async function using<T>(
  ids: RequestIds,
  requestId: string,
  work: (request: LockedRequestId) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const request = await ids.lock(requestId, signal);
  try {
    return await work(request);
  } finally {
    await request.release();
  }
}
const create = (ids: RequestIds, requestId: string, envelopeId: string) =>
  using(ids, requestId, async (request) => {
    await request.asked(content);
    await request.made(envelopeId);
  });
const files = async (account = 'account') =>
  (await readdir(join(folder, 'requests', account))).filter((name) => name.endsWith('.json'));
const fileOf = async () => join(folder, 'requests', 'account', (await files())[0] ?? '');

describe.each([
  ['on disk', () => open()],
  ['in memory', () => requestIdsInMemory({ account: folder, ...time })],
])('request IDs %s', (_, ids) => {
  it('are stored with their content and envelope after a create', async () => {
    await create(ids(), 'order-1', 'env_1');
    expect(await ids().read('order-1')).toMatchObject({
      state: 'made',
      envelopeId: 'env_1',
      content,
      serviceAt: 5,
    });
    expect(await ids().read('order-2')).toEqual({ state: 'new' });
  });

  it('stay in use if the outcome is unknown, and are free again if the service refused', async () => {
    await using(ids(), 'order-1', (request) => request.asked(content));
    expect(await ids().read('order-1')).toMatchObject({ state: 'asked', content });
    await using(ids(), 'order-1', (request) => request.refused());
    expect(await ids().read('order-1')).toEqual({ state: 'new' });
  });

  it('are used by one caller at a time', async () => {
    let [inside, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++inside);
      await systemClock.sleep(5);
      inside--;
    };
    await Promise.all(Array.from({ length: 5 }, () => using(ids(), 'order-1', work)));
    expect(most).toBe(1);
  });

  it('are released when the work fails', async () => {
    await expect(using(ids(), 'order-1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await create(ids(), 'order-1', 'env_1');
  });

  it('refuse an empty ID', async () => {
    await expect(using(ids(), '', async () => undefined)).rejects.toThrow(UsageError);
    await expect(ids().read(' ')).rejects.toThrow(UsageError);
  });
});

describe('the records on disk', () => {
  it('are separate for each account', async () => {
    await create(open('one'), 'order-1', 'env_1');
    expect(await open('two').read('order-1')).toEqual({ state: 'new' });
  });

  it('are readable by the owner only, and contain no address', async () => {
    await create(open(), 'order-1', 'env_1');
    expect((await stat(await fileOf())).mode & 0o777).toBe(0o600);
    expect(await readFile(await fileOf(), 'utf8')).not.toContain('ada');
  });

  it('are dropped after 30 days', async () => {
    await create(open(), 'order-1', 'env_1');
    await create(open(), 'order-2', 'env_2');
    const old = new Date(Date.now() - 31 * DAY_MS);
    for (const name of ['.cleaned', ...(await files()).slice(0, 1)])
      await utimes(join(folder, 'requests', 'account', name), old, old);
    await create(open(), 'order-3', 'env_3');
    expect(await files()).toHaveLength(2);
  });

  it('count as damaged when any byte is changed', async () => {
    await create(open(), 'order-1', 'env_1');
    const bytes = await readFile(await fileOf());
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await writeFile(await fileOf(), changed);
      const known = await open().read('order-1');
      // The trailing line break carries no data.
      expect([known.state, at]).toEqual([at === bytes.length - 1 ? 'made' : 'damaged', at]);
    }
    await writeFile(await fileOf(), '');
    expect(await open().read('order-1')).toMatchObject({ state: 'damaged' });
  });

  it("keep the earlier record and stop if the new one can't be written", async () => {
    await using(open(), 'order-1', (request) => request.asked(content));
    const path = await fileOf();
    await rm(path);
    // A folder in its place: the rename fails, as on a full disk.
    await mkdir(path);
    await expect(using(open(), 'order-1', (request) => request.asked(content))).rejects.toThrow(UsageError);
  });

  it('are refused if the state folder is a file', async () => {
    await writeFile(join(folder, 'requests'), '');
    await expect(create(open(), 'order-1', 'env_1')).rejects.toThrow(UsageError);
  });
});

describe('two processes with one request ID', () => {
  /** A process that records its request, and keeps the ID until it is killed. */
  let program: string;
  beforeAll(async () => {
    program = join(await mkdtemp(join(tmpdir(), 'esign-holder-')), 'holder.mjs');
    const source = (name: string) => JSON.stringify(join(import.meta.dirname, '../../src', name));
    const contents = `
      import { requestIdsIn } from ${source('envelopes/request-ids/request-ids.ts')};
      import { systemClock } from ${source('kernel/clock.ts')};
      const [, , folder, id] = process.argv;
      const ids = requestIdsIn(folder, { account: 'account', clock: systemClock, serviceClock: Date });
      const request = await ids.lock(id);
      await request.asked('content');
      process.send('asked');
      await new Promise((resolve) => setTimeout(resolve, 1_000_000));`;
    const stdin = { contents, resolveDir: import.meta.dirname };
    await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: program });
  });
  afterAll(() => rm(dirname(program), { recursive: true }));

  it('take turns, also after a kill -9', async () => {
    const child = fork(program, [folder, 'order-1']);
    await once(child, 'message');
    let isFree = false;
    const waiting = using(open(), 'order-1', async ({ known }) => known).then((known) => {
      isFree = true;
      return known;
    });
    await systemClock.sleep(100);
    expect(isFree).toBe(false);
    child.kill('SIGKILL');
    expect(await waiting).toMatchObject({ state: 'asked' });
  });

  it('stop waiting when the caller aborts', async () => {
    const controller = new AbortController();
    await using(open(), 'order-1', async () => {
      const ids = requestIdsIn(folder, { account: 'account', ...time });
      const other = using(ids, 'order-1', async () => 1, controller.signal);
      controller.abort(new Error('enough'));
      await expect(other).rejects.toThrow('enough');
    });
  });
});

describe('the content of a request ID', () => {
  const of = (signers: Parameters<typeof contentOf>[0]['signers'], templateId = 'tmpl_1') =>
    contentOf({ templateId, signers });

  it('differs with template, address, name, role, and order', () => {
    const base = of([{ ...ada, role: 'Tenant', order: 1 }]);
    const others = [
      of([{ ...ada, role: 'Tenant', order: 1 }], 'tmpl_2'),
      of([{ ...ada, email: 'bo@example.com', role: 'Tenant', order: 1 }]),
      of([{ ...ada, name: 'Bo', role: 'Tenant', order: 1 }]),
      of([{ ...ada, role: 'Landlord', order: 1 }]),
      of([{ ...ada, role: 'Tenant', order: 2 }]),
      of([{ ...ada, role: 'Tenant', order: 1 }, ada]),
    ];
    expect(new Set([base, ...others]).size).toBe(7);
  });

  it('ignores the case of addresses and the sequence of signers', () => {
    const bo = { email: 'bo@example.com', name: 'Bo' };
    expect(of([ada, bo])).toBe(of([bo, { ...ada, email: 'ADA@example.com' }]));
  });

  it('is not compared if the record is damaged or new', () => {
    const stamp = { at: 0, serviceAt: 0 };
    expect(isOtherContent({ state: 'asked', ...stamp, content }, 'x')).toBe(true);
    expect(isOtherContent({ state: 'asked', ...stamp, content }, content)).toBe(false);
    expect(isOtherContent({ state: 'damaged', ...stamp, path: '' }, 'x')).toBe(false);
  });
});

it('accepts any text that is not empty as a request ID', () => {
  expect(checkRequestId('order-1')).toBe('order-1');
  for (const wrong of ['', '  ', undefined, 5]) expect(() => checkRequestId(wrong)).toThrow(UsageError);
});
