import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isDayAgo,
  isNewer,
  isVersion,
  readRecord,
  recordPath,
  writeRecord,
} from '../../src/update/record.ts';
import { isPrivate } from '../support/private.ts';

describe('versions', () => {
  it.each([
    ['0.2.0', '0.1.9', true],
    ['0.10.0', '0.9.0', true],
    ['1.0.0', '0.99.99', true],
    ['1.0.0', '1.0.0', false],
    ['1.0.0', '1.0.1', false],
    ['0.9.0', '0.10.0', false],
    ['1.0.0', '1.0.0-beta.1', true],
    ['1.0.0', '1.0.1-beta.1', false],
  ])('compare %s with %s as newer: %s', (one, other, newer) => {
    expect(isNewer(one, other)).toBe(newer);
  });

  it('have exactly three numbers', () => {
    const not = ['1.2', '1.2.3-rc.1', '1.2.3\n', '1.2.3\u001b[31m', 'v1.2.3', '9999999.0.0', ''];
    expect(isVersion('10.20.30')).toBe(true);
    expect(not.filter(isVersion)).toEqual([]);
  });
});

describe('the daily interval', () => {
  it('is over after 24 hours, or when the clock was set back', () => {
    const now = 1_800_000_000_000;
    const day = 24 * 60 * 60_000;
    expect([undefined, now - day, now + 1].map((at) => isDayAgo(at, now))).toEqual([true, true, true]);
    expect([now, now - day + 1].map((at) => isDayAgo(at, now))).toEqual([false, false]);
  });
});

describe('the record', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'esign-update-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is stored as written, readable only by its owner', async () => {
    const path = recordPath(join(folder, 'new', 'state'));
    const record = { askedAt: 1, latest: '1.2.3', toldAt: undefined };
    writeRecord(path, record);
    expect(readRecord(path)).toEqual(record);
    expect(await readFile(path, 'utf8')).toBe('{"askedAt":1,"latest":"1.2.3"}');
    expect(isPrivate(path)).toBe(true);
  });

  it.each(['', 'null', '[]', '{"askedAt":"1","latest":7}', '{"latest":"1.2.3-x"}'])(
    'is empty for %j',
    async (text) => {
      const path = join(folder, 'broken.json');
      await writeFile(path, text);
      expect(readRecord(path)).toEqual({ askedAt: undefined, latest: undefined, toldAt: undefined });
    },
  );
});
