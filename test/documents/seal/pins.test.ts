import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acceptPin,
  forgetPins,
  type Pin,
  pinFirst,
  pinnedFor,
  readPins,
} from '../../../src/documents/seal/pins.ts';
import { isPrivate } from '../../support/private.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-pins-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const origin = { profile: 'prod', baseUrl: 'https://api.example.com/api/v1' };
const pin = (fingerprint: string, more: Partial<Pin> = {}): Pin => ({
  ...origin,
  fingerprint,
  subject: 'CN=x',
  since: '2026-01-01T00:00:00.000Z',
  ...more,
});

describe('pinned seals', () => {
  it('are the first seal of an origin, and those accepted later', async () => {
    await pinFirst(folder, pin('aa'));
    await pinFirst(folder, pin('bb'));
    expect(pinnedFor(await readPins(folder), origin)).toEqual(['aa']);
    expect(pinnedFor(await acceptPin(folder, pin('bb')), origin)).toEqual(['aa', 'bb']);
    expect(pinnedFor(await forgetPins(folder, origin, ':'), origin)).toContain('aa');
    expect(pinnedFor(await forgetPins(folder, origin, 'A:A'), origin)).toEqual(['bb']);
    expect(isPrivate(join(folder, 'seals.json'))).toBe(true);
  });

  it('are pinned once, and only those of the origin are removed', async () => {
    await acceptPin(folder, pin('aa'));
    await acceptPin(folder, pin('aa', { subject: 'CN=again' }));
    await acceptPin(folder, pin('aa', { profile: 'other' }));
    await acceptPin(folder, pin('ab'));
    const kept = [pin('aa', { profile: 'other' }), pin('ab')];
    expect(await readPins(folder)).toEqual([pin('aa'), ...kept]);
    expect(await forgetPins(folder, origin, 'b')).toHaveLength(3);
    expect(await forgetPins(folder, origin, 'aa')).toEqual(kept);
    expect(await readPins(folder)).toEqual(kept);
    expect(await forgetPins(folder, { ...origin, profile: 'other' }, 'a')).toEqual([pin('ab')]);
  });

  it('apply only to their own profile and address', async () => {
    await pinFirst(folder, pin('aa'));
    await pinFirst(folder, pin('bb', { profile: 'other' }));
    await pinFirst(folder, pin('cc', { baseUrl: 'https://elsewhere.example/api/v1' }));
    expect(pinnedFor(await readPins(folder), origin)).toEqual(['aa']);
    expect(pinnedFor(await readPins(folder), { ...origin, profile: 'other' })).toEqual(['bb']);
    const elsewhere = { ...origin, baseUrl: 'https://elsewhere.example/api/v1' };
    expect(pinnedFor(await readPins(folder), elsewhere)).toEqual(['cc']);
  });

  it('are the same for all processes that pin at the same time', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
    const all = await Promise.all(names.map((name) => pinFirst(folder, pin(name))));
    expect(new Set(all.map((pins) => pinnedFor(pins, origin).join())).size).toBe(1);
  });

  it('are not written again if they stay the same', async () => {
    await pinFirst(folder, pin('aa'));
    const { ino } = await stat(join(folder, 'seals.json'));
    await pinFirst(folder, pin('bb'));
    await acceptPin(folder, pin('aa'));
    expect((await stat(join(folder, 'seals.json'))).ino).toBe(ino);
  });

  it("are left unchanged if they can't be read", async () => {
    for (const text of ['broken', '{"pins":[{"profile":"prod"}]}', '[]']) {
      await writeFile(join(folder, 'seals.json'), text);
      await expect(pinFirst(folder, pin('aa'))).rejects.toThrow('left unchanged');
      await expect(readPins(folder)).rejects.toMatchObject({ hint: expect.any(String) as unknown });
      expect(await readFile(join(folder, 'seals.json'), 'utf8')).toBe(text);
    }
  });
});
