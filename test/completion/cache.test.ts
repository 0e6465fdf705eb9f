import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheFile, keepRecents, readRecent } from '../../src/completion/cache.ts';
import { createRecents, RECENT_LIMIT, type Recents } from '../../src/completion/recent.ts';

const scope = { baseUrl: 'https://api.example.com/v1', profile: 'acme', apiKey: 'sk_canary_0123456789' };
const HOUR = 3_600_000;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-cache-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function seen(...ids: string[]) {
  const recents = createRecents();
  for (const id of ids) recents.envelopes.set(id, { id, label: 'x' });
  return recents;
}
const ids = (file: string, now: number) => readRecent(file, 'envelopes', now).map(({ id }) => id);

describe('the cache of IDs', () => {
  it('keeps the most recent IDs first, each once, for a day', async () => {
    const file = cacheFile(folder, scope);
    keepRecents(file, seen('a', 'b'), 0);
    keepRecents(file, seen('c', 'a'), 20 * HOUR);
    expect(ids(file, 21 * HOUR)).toEqual(['c', 'a', 'b']);
    expect(ids(file, 25 * HOUR)).toEqual(['c', 'a']);
    expect(ids(file, 45 * HOUR)).toEqual([]);
    // After the clock is set back, an entry must still expire.
    expect(ids(file, HOUR)).toEqual(['b']);
  });

  it('is not rewritten for IDs that it already has', async () => {
    const file = cacheFile(folder, { ...scope, profile: 'again' });
    const written = async (now: number, one: Recents) => {
      const before = await stat(file).catch(() => undefined);
      keepRecents(file, one, now);
      return (await stat(file)).ino !== before?.ino;
    };
    const changed = seen('a');
    changed.envelopes.set('a', { id: 'a', label: 'x', status: 'SENT' });
    expect(await written(0, seen('a', 'b'))).toBe(true);
    expect(await written(1_000, seen('a'))).toBe(false);
    expect(await written(2_000, changed)).toBe(true);
    expect(await written(3_000, seen('c'))).toBe(true);
    expect(await written(HOUR, changed)).toBe(true);
  });

  it('never exceeds its limit', async () => {
    const file = cacheFile(folder, { ...scope, profile: 'big' });
    const many = (from: number) => seen(...Array.from({ length: RECENT_LIMIT }, (_, i) => `env_${from + i}`));
    keepRecents(file, many(0), 0);
    keepRecents(file, many(150), 1);
    expect(ids(file, 2)).toHaveLength(RECENT_LIMIT);
  });

  it('uses a separate file for each key, profile, and service, whose name reveals none of them', () => {
    const files = [
      scope,
      { ...scope, apiKey: 'sk_other_0123456789' },
      { ...scope, profile: undefined },
      { ...scope, baseUrl: 'https://x.example' },
    ].map((one) => cacheFile(folder, one));
    expect(new Set(files).size).toBe(4);
    for (const file of files) expect(file).toMatch(/[\\/]completion[\\/][0-9a-f]{16}\.json$/);
  });

  it('leaves no temporary file, even if two processes write at the same time', async () => {
    const file = cacheFile(folder, { ...scope, profile: 'race' });
    for (const n of [1, 2, 3, 4, 5]) keepRecents(file, seen(`env_${n}`), n);
    expect(JSON.parse(await readFile(file, 'utf8'))).toHaveProperty('envelopes');
    expect((await readdir(join(folder, 'completion'))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
