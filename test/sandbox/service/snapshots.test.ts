import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test, vi } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { ServiceOptions } from '../../../src/sandbox/service/server.ts';
import { Store } from '../../../src/sandbox/service/store/store.ts';
import { Uploads } from '../../../src/sandbox/service/store/uploads.ts';
import { startReceiver } from './receiver.ts';
import {
  DAY,
  deliveriesOf,
  errorIn,
  listIn,
  literal,
  MemoryObjects,
  mailsOf,
  type Rig,
  startRig,
  tempFolder,
} from './rig.ts';

const save = async (rig: Rig, name: string) => (await rig.control('POST', '/snapshots', { name })).status;
const load = async (rig: Rig, name: string) =>
  (await rig.control('POST', `/snapshots/${name}/restore`)).status;
const idsOf = async (rig: Rig, key?: string) =>
  listIn(await rig.api('GET', '/esign/envelopes', undefined, key)).data.map(({ id }) => id);

test('A snapshot restores envelopes, emails, keys, documents, and the clock', async () => {
  const rig = await startRig({ choices: literal });
  const kept = await rig.create({ sendImmediately: true });
  await rig.act(kept.id, 'sign', { all: true });
  const { key } = await rig.makeKey({});
  const before = [await rig.get(kept.id), await mailsOf(rig, kept.id), [...rig.objects.stored.keys()].sort()];
  expect(await save(rig, 'before')).toBe(201);
  const later = await rig.create();
  await rig.control('POST', '/clock/advance', { ms: 40 * DAY });
  const { key: gone } = await rig.makeKey({});
  expect(await load(rig, 'before')).toBe(200);
  expect([
    await rig.get(kept.id),
    await mailsOf(rig, kept.id),
    [...rig.objects.stored.keys()].sort(),
  ]).toEqual(before);
  expect(errorIn(await rig.api('GET', `/esign/envelopes/${later.id}`)).is).toBe('404 NOT_FOUND');
  expect(await idsOf(rig, key)).toEqual([kept.id]);
  expect((await rig.api('GET', '/esign/envelopes', undefined, gone)).status).toBe(401);
  expect((await rig.control('GET', '/')).body).toMatchObject({ clockOffsetMs: 0 });
  // The sandbox continues from there.
  expect((await rig.create({ sendImmediately: true })).status).toBe('SENT');
});

test('A snapshot survives a reset, and its restored data survive a restart', async () => {
  const rig = await startRig({ choices: literal });
  const { id } = await rig.create({ sendImmediately: true });
  await save(rig, 'one');
  await rig.control('POST', '/reset');
  expect(await idsOf(rig)).toEqual([]);
  await load(rig, 'one');
  const other = await rig.create();
  await rig.service.close();
  const again = await startRig({ choices: literal, dataDir: rig.dataDir, objects: rig.objects });
  expect((await idsOf(again)).sort()).toEqual([id, other.id].sort());
  // Read from disk this time.
  await load(again, 'one');
  expect(await idsOf(again)).toEqual([id]);
  expect((await again.act(id, 'sign')).status).toBe('IN_PROGRESS');
});

test('A webhook that was pending in a snapshot is sent again after it is loaded', async () => {
  let status = 500;
  const receiver = await startReceiver(() => status);
  const rig = await startRig({ choices: literal });
  const { id } = await rig.create({ sendImmediately: true, webhookUrl: receiver.url });
  await rig.control('POST', '/clock/advance', { ms: 1 });
  await save(rig, 'pending');
  status = 200;
  await rig.control('POST', '/clock/advance', { ms: DAY });
  expect((await deliveriesOf(rig, id))[0]?.state).toBe('delivered');
  await load(rig, 'pending');
  expect((await deliveriesOf(rig, id))[0]?.state).toBe('pending');
  await rig.control('POST', '/clock/advance', { ms: DAY });
  expect((await deliveriesOf(rig, id))[0]?.state).toBe('delivered');
});

test('Snapshots are listed, replaced, and removed; an invalid name is refused', async () => {
  const rig = await startRig({ choices: literal, objects: new MemoryObjects() });
  for (const name of ['a', 'b']) await save(rig, name);
  await rig.create();
  await save(rig, 'a');
  expect(await rig.service.control.snapshots()).toMatchObject([
    { name: 'b', envelopes: 0 },
    { name: 'a', envelopes: 1 },
  ]);
  expect((await rig.control('DELETE', '/snapshots/a')).status).toBe(204);
  expect(await readdir(join(rig.dataDir, 'snapshots'))).toEqual(['b']);
  for (const [method, path] of [
    ['DELETE', '/snapshots/a'],
    ['POST', '/snapshots/a/restore'],
    ['POST', '/snapshots/..%2f..%2fx/restore'],
  ] as const)
    expect(errorIn(await rig.control(method, path)).is).toBe('404 NOT_FOUND');
  for (const name of ['', '../x', '.x', 'a/b', 'x'.repeat(65)])
    expect([name, await save(rig, name)]).toEqual([name, 400]);
});

test('Incomplete operations on snapshots are finished at the next start, and half a snapshot hides no other', async () => {
  const rig = await startRig({ choices: literal });
  for (const name of ['kept', 'cut', 'broken']) await save(rig, name);
  await rig.service.close();
  const at = (...names: string[]) => join(rig.dataDir, 'snapshots', ...names);
  // Before the new one had its name, while it was written, and while one was deleted.
  await rename(at('cut'), at('.old-cut'));
  await cp(at('kept'), at('.old-kept'), { recursive: true });
  for (const name of ['.new-cut', '.gone-x']) await cp(at('kept', 'objects'), at(name), { recursive: true });
  await rm(at('broken', 'snapshot.json'));
  await mkdir(at('none'));
  await writeFile(at('none', 'snapshot.json'), '{');
  const again = await startRig({ choices: literal, dataDir: rig.dataDir, objects: rig.objects });
  expect((await again.service.control.snapshots()).map(({ name }) => name)).toEqual(['kept', 'cut']);
  expect(await load(again, 'cut')).toBe(200);
  expect(await load(again, 'broken')).toBe(404);
  for (const name of ['broken', 'none'])
    expect((await again.control('DELETE', `/snapshots/${name}`)).status).toBe(204);
  expect((await readdir(at())).sort()).toEqual(['cut', 'kept']);
});

test('A journal is replaced while requests continue, and none of them is lost', async () => {
  const dataDir = await tempFolder();
  const rig = await startRig({ choices: literal, dataDir });
  await rig.create();
  await save(rig, 'few');
  const creating = Array.from({ length: 30 }, () => rig.create());
  for (let nth = 0; nth < 5; nth++) await load(rig, 'few');
  await Promise.allSettled(creating);
  await load(rig, 'few');
  const after = [(await rig.create()).id, ...(await idsOf(rig))];
  await rig.service.close();
  const again = await startRig({ choices: literal, dataDir, objects: rig.objects });
  expect((await idsOf(again)).length).toBe(2);
  expect(after).toEqual(expect.arrayContaining(await idsOf(again)));
});

test('A clock with a custom start returns there with a reset, and to its saved time with a snapshot', async () => {
  const startsAt = Date.parse('2020-01-01T00:00:00Z');
  const rig = await startRig({ choices: literal, startsAt });
  const dayOf = async () => (await rig.api('GET', '/esign/templates')).headers.get('date')?.slice(5, 16);
  const { id, createdAt, expiresAt } = await rig.create({ sendImmediately: true });
  expect([await dayOf(), createdAt.slice(0, 10), expiresAt.slice(0, 10)]).toEqual([
    '01 Jan 2020',
    '2020-01-01',
    '2020-01-31',
  ]);
  await rig.control('POST', '/clock/advance', { ms: 9 * DAY });
  await save(rig, 'later');
  await rig.control('POST', '/clock/advance', { ms: 30 * DAY });
  expect((await rig.get(id)).status).toBe('EXPIRED');
  await rig.control('POST', '/reset');
  expect(await dayOf()).toBe('01 Jan 2020');
  await load(rig, 'later');
  expect([await dayOf(), (await rig.get(id)).status]).toEqual(['10 Jan 2020', 'SENT']);
});

test('A snapshot restores the PDFs of uploaded templates', async () => {
  const rig = await startRig({ choices: literal });
  const uploads = new Uploads(join(rig.dataDir, 'templates'));
  await uploads.put('tmpl_own', Buffer.from('%PDF-own'));
  await save(rig, 'one');
  await uploads.clear();
  await uploads.put('tmpl_later', Buffer.from('%PDF-later'));
  expect(await load(rig, 'one')).toBe(200);
  expect(Buffer.from(await uploads.get('tmpl_own')).toString()).toBe('%PDF-own');
  await expect(uploads.get('tmpl_later')).rejects.toThrow('ENOENT');
});

test('A snapshot that fails leaves no partial copy, and keeps an earlier one with that name', async () => {
  const objects = new MemoryObjects();
  const rig = await startRig({ choices: literal, objects });
  await save(rig, 'one');
  vi.spyOn(objects, 'save').mockRejectedValueOnce(Object.assign(new Error('full'), { code: 'ENOSPC' }));
  await rig.create();
  expect(await save(rig, 'one')).toBe(500);
  expect(await readdir(join(rig.dataDir, 'snapshots'))).toEqual(['one']);
  expect(await rig.service.control.snapshots()).toMatchObject([{ name: 'one', envelopes: 0 }]);
  expect(await save(rig, 'one')).toBe(201);
});

describe('a frozen clock', () => {
  const AT = '2030-05-01T09:00:00.000Z';
  const startsAt = Date.parse(AT);
  /** Starts a service on a machine whose clock is `ahead` ms ahead. */
  const startLater = (dataDir: string, ahead: number, options: Partial<ServiceOptions>) => {
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    return startRig({ choices: literal, dataDir, clock, ...options });
  };
  const nowOf = (rig: Rig) => rig.service.control.status().now;

  it('returns to the time of a snapshot in a later run', async () => {
    const dataDir = await tempFolder();
    const first = await startLater(dataDir, 0, { startsAt, isFrozen: true });
    await save(first, 'start');
    await first.control('POST', '/clock/advance', { ms: DAY });
    await save(first, 'later');
    await first.service.close();
    const second = await startLater(dataDir, 3_600_000, { startsAt, isFrozen: true });
    await load(second, 'later');
    expect(nowOf(second)).toBe('2030-05-02T09:00:00.000Z');
    await load(second, 'start');
    expect((await second.create()).createdAt).toBe(AT);
  });

  it('stays at its time across restarts', async () => {
    const dataDir = await tempFolder();
    const first = await startLater(dataDir, 0, { isFrozen: true });
    await first.control('POST', '/clock/advance', { ms: DAY });
    const before = nowOf(first);
    await first.service.close();
    const second = await startLater(dataDir, 3_600_000, { isFrozen: true });
    expect(nowOf(second)).toBe(before);
    await save(second, 'one');
    await second.service.close();
    const third = await startLater(dataDir, 7_200_000, { isFrozen: true });
    expect(nowOf(third)).toBe(before);
  });

  it('runs again if a later run does not freeze it, and starts from the time of that run', async () => {
    const dataDir = await tempFolder();
    await (await startLater(dataDir, 0, { isFrozen: true })).service.close();
    const running = await startLater(dataDir, DAY, {});
    const { now, clockOffsetMs } = running.service.control.status();
    expect([clockOffsetMs, Date.parse(now)]).toEqual([0, expect.closeTo(Date.now() + DAY, -6)]);
    await running.service.close();
    const frozen = await startLater(dataDir, 2 * DAY, { isFrozen: true });
    expect(Date.parse(nowOf(frozen))).toEqual(expect.closeTo(Date.now() + 2 * DAY, -6));
  });

  it('reads the offset of earlier versions', async () => {
    const dataDir = await tempFolder();
    const store = await Store.open(dataDir);
    await store.commit([{ kind: 'clock', value: 9 * DAY }]);
    await store.close();
    const rig = await startLater(dataDir, 0, { isFrozen: true });
    expect(Date.parse(nowOf(rig))).toEqual(expect.closeTo(Date.now() + 9 * DAY, -6));
  });
});
