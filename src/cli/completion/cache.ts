import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { IndexScope } from '../../catalog/index/index-writer.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { replaceFile } from '../../kernel/files/replace-file.ts';
import { parseJson } from '../../kernel/json.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { RECENT_LIMIT, type Recent, type RecentKind, type Recents } from './recent.ts';

/** How long an ID is kept. Older ones are rarely useful. */
const RETENTION_MS = DAY_MS;
/** Unchanged entries younger than this are not written again, because a script may read the same one a thousand times. */
const SAME_MS = 60_000;

const entrySchema = z.object({
  id: z.string(),
  label: z.string(),
  status: z.optional(z.string()),
  at: z.number(),
});
const cacheSchema = z.object({ envelopes: z.array(entrySchema), templates: z.array(entrySchema) });
type Cache = z.infer<typeof cacheSchema>;

/** Returns the cache file of a scope. Its IDs are not suggested for another key. The name is a checksum, so it doesn't contain the address or the key. */
export function cacheFile(stateDir: string, scope: IndexScope): string {
  const facts = JSON.stringify([scope.baseUrl, scope.profile ?? null, maskKey(scope.apiKey)]);
  return join(stateDir, 'completion', `${shortDigest(facts)}.json`);
}

/** Returns recent IDs, newest first. Returns an empty list if the cache is missing or unreadable. */
export function readRecent(file: string, kind: RecentKind, now: number): Recent[] {
  return fresh(readCache(file)[kind], now);
}

/** Adds the IDs of a run. A concurrent run may overwrite them, which is acceptable for a cache. */
export function keepRecents(file: string, seen: Recents, now: number): void {
  const before = readCache(file);
  if (isKnown(seen.envelopes, before.envelopes, now) && isKnown(seen.templates, before.templates, now))
    return;
  const after: Cache = {
    envelopes: merged(seen.envelopes, before.envelopes, now),
    templates: merged(seen.templates, before.templates, now),
  };
  replaceFile(file, JSON.stringify(after));
}

function isKnown(seen: Recents[RecentKind], before: Cache[RecentKind], now: number): boolean {
  return [...seen.values()].every(({ id, label, status }) =>
    before.some(
      (one) =>
        one.id === id && one.label === label && one.status === status && Math.abs(now - one.at) < SAME_MS,
    ),
  );
}

function merged(seen: Recents[RecentKind], before: Cache[RecentKind], now: number): Cache[RecentKind] {
  const rest = fresh(before, now).filter(({ id }) => !seen.has(id));
  return [...[...seen.values()].map((one) => ({ ...one, at: now })), ...rest].slice(0, RECENT_LIMIT);
}

function fresh<T extends { at: number }>(entries: readonly T[], now: number): T[] {
  return entries.filter(({ at }) => now - at < RETENTION_MS && at <= now);
}

function readCache(file: string): Cache {
  try {
    return cacheSchema.parse(parseJson(readFileSync(file, 'utf8')));
  } catch {
    return { envelopes: [], templates: [] };
  }
}
