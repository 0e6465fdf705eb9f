import { join } from 'node:path';
import * as z from 'zod/mini';
import type { IndexScope } from '../../catalog/index/file-store.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { readRegularSync } from '../../kernel/files/regular-file.ts';
import { replaceFile } from '../../kernel/files/replace-file.ts';
import { parseJson } from '../../kernel/json.ts';
import { maskKey } from '../../kernel/redaction.ts';
import { RECENT_LIMIT, type Recent, type RecentKind, type Recents } from './recent.ts';

/** How long an ID is kept. Older envelopes are rarely useful; templates are used again and again. */
const RETENTION_MS: Readonly<Record<RecentKind, number>> = { envelopes: DAY_MS, templates: 90 * DAY_MS };
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
  return fresh(readCache(file), kind, now);
}

/** Adds the IDs of a run. A concurrent run may overwrite them, which is acceptable for a cache. */
export function keepRecents(file: string, seen: Recents, now: number): void {
  const before = readCache(file);
  if (isKnown(seen.envelopes, before.envelopes, now) && isKnown(seen.templates, before.templates, now))
    return;
  const after: Cache = {
    envelopes: merged(seen, before, 'envelopes', now),
    templates: merged(seen, before, 'templates', now),
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

function merged(seen: Recents, before: Cache, kind: RecentKind, now: number): Cache[RecentKind] {
  const rest = fresh(before, kind, now).filter(({ id }) => !seen[kind].has(id));
  return [...[...seen[kind].values()].map((one) => ({ ...one, at: now })), ...rest].slice(0, RECENT_LIMIT);
}

function fresh(cache: Cache, kind: RecentKind, now: number): Cache[RecentKind] {
  return cache[kind].filter(({ at }) => now - at < RETENTION_MS[kind] && at <= now);
}

function readCache(file: string): Cache {
  try {
    return cacheSchema.parse(parseJson(readRegularSync(file).toString('utf8')));
  } catch {
    return { envelopes: [], templates: [] };
  }
}
