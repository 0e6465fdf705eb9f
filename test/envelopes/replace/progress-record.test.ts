import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openReplaceRecord,
  type ReplaceProgressRecord,
  type ReplaceRecord,
  readReplaceRecord,
} from '../../../src/envelopes/replace/progress-record.ts';
import { lockFile } from '../../../src/kernel/files/lock.ts';
import { fakeClock } from '../../support/clock.ts';

const DAY_MS = 86_400_000;
let top: string;
let folder: string;
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'esign-memory-'));
  folder = join(top, 'records');
});
afterEach(() => rm(top, { recursive: true, force: true }));

/** Records something, and returns the record as the next run reads it. */
async function recordAfter(
  ...work: ((memory: ReplaceRecord) => Promise<void>)[]
): Promise<ReplaceProgressRecord> {
  const memory = await openReplaceRecord(folder, 'x', 'env_1', fakeClock());
  for (const one of work) await one(memory);
  await memory.close();
  const next = await openReplaceRecord(folder, 'x', 'env_1', fakeClock());
  const { known } = next;
  await next.close();
  expect(await readReplaceRecord(folder, 'x', 'env_1')).toEqual(known);
  return known;
}
const asked = (memory: ReplaceRecord) => memory.asked('r-1');
const refused = (memory: ReplaceRecord) => memory.note({ type: 'refused' });
const made = (memory: ReplaceRecord) => memory.note({ type: 'made', id: 'env_2' });
const sent = (memory: ReplaceRecord) => memory.note({ type: 'sent' });
const cancelled = (memory: ReplaceRecord) => memory.note({ type: 'cancelled' });

describe('the record of a replacement', () => {
  const time = fakeClock().now();
  it.each<[string, ((memory: ReplaceRecord) => Promise<void>)[], ReplaceProgressRecord]>([
    ['an open request', [asked], { requestId: 'r-1', askedAt: time }],
    ['no open request after a refusal', [asked, refused], { requestId: 'r-1' }],
    ['the new envelope, and no open request', [asked, made], { requestId: 'r-1', madeId: 'env_2' }],
    ['an envelope that was only found', [made], { madeId: 'env_2' }],
    ['only the new request after an envelope', [asked, made, asked], { requestId: 'r-1', askedAt: time }],
    ['the same after the last steps', [asked, made, cancelled, sent], { requestId: 'r-1', madeId: 'env_2' }],
    ['an open request whatever else was done', [asked, cancelled, sent], { requestId: 'r-1', askedAt: time }],
  ])('contains %s', async (_, work, known) => {
    const read = await recordAfter(...work);
    expect(read).toEqual(known);
    expect(Object.values(read).filter((value) => value !== undefined)).toEqual(Object.values(known));
  });

  it('skips a damaged line', async () => {
    await recordAfter(asked);
    const [name = ''] = (await readdir(folder)).filter((one) => one.endsWith('.jsonl'));
    await appendFile(join(folder, name), 'broken\n');
    expect(await recordAfter(made)).toMatchObject({ requestId: 'r-1', madeId: 'env_2' });
  });

  it('is deleted if nothing was recorded', async () => {
    expect(await recordAfter()).toEqual({});
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toEqual([]);
    await recordAfter(made);
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
    await recordAfter();
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
  });

  it('is deleted after 30 days, unless it is in use, and nothing else in the folder is', async () => {
    await recordAfter(made);
    const now = Date.now();
    const old = new Date(now - 31 * DAY_MS);
    for (const name of ['other.txt', 'used.jsonl', 'old.jsonl', 'young.jsonl']) {
      await writeFile(join(folder, name), 'x');
      await utimes(join(folder, name), old, name.startsWith('young') ? new Date(now - 29 * DAY_MS) : old);
    }
    const busy = () => new Error('in use');
    const release = await lockFile(join(folder, 'used.jsonl.lock'), busy, { waitMs: 0, clock: fakeClock() });
    const memory = await openReplaceRecord(folder, 'y', 'env_1', fakeClock(now));
    await memory.close();
    await release();
    const left = await readdir(folder);
    expect(
      ['other.txt', 'used.jsonl', 'old.jsonl', 'young.jsonl'].map((name) => left.includes(name)),
    ).toEqual([true, true, false, true]);
  });

  it('is free again if it could not be opened', async () => {
    await recordAfter(asked);
    const [name = ''] = (await readdir(folder)).filter((one) => one.endsWith('.jsonl'));
    await rm(join(folder, name));
    await mkdir(join(folder, name));
    await expect(openReplaceRecord(folder, 'x', 'env_1', fakeClock())).rejects.toThrow();
    await rmdir(join(folder, name));
    expect(await recordAfter(made)).toEqual({ madeId: 'env_2' });
  });

  it('is required: a folder that cannot be created is an error', async () => {
    await writeFile(folder, 'a file');
    const error: unknown = await openReplaceRecord(folder, 'x', 'env_1', fakeClock()).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toHaveProperty('message', expect.stringContaining(folder));
    expect(error).toHaveProperty('cause');
    expect(await readFile(folder, 'utf8')).toBe('a file');
  });
});
