import type { Client } from '../../api/client.ts';
import type { FindMeant } from '../../api/subject.ts';
import type { RecordScope } from '../../compatibility/record-path.ts';
import type { CacheScope } from '../../completion/cache.ts';
import type { Recents } from '../../completion/recent.ts';
import type { Feed } from '../../envelope-index/feed.ts';
import type { IndexScope } from '../../envelope-index/index-writer.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { Settings } from '../../profiles/resolve.ts';
import type { ShapeNotes } from './shape-notes.ts';

/** Returns the account that the ids belong to; undefined without a base URL or key. */
export function scopeOf({ baseUrl, profileName, apiKey }: Settings): CacheScope | undefined {
  if (baseUrl === undefined || apiKey === undefined) return undefined;
  return { baseUrl: baseUrl.value, profile: profileName?.value, apiKey: apiKey.value };
}

/** What the service returned in this run, and for which account. */
export interface Seen {
  recents: Recents;
  scope: CacheScope | undefined;
  /** Adds envelopes that were read to the index; undefined if the index is turned off. */
  feed: Feed | undefined;
  /** Takes note of the shapes of replies; undefined where that is turned off. */
  shapes: ShapeNotes | undefined;
}

/** Returns the account whose index is kept; undefined if the index is turned off. */
export function indexScopeOf(settings: Settings, env = process.env): IndexScope | undefined {
  if (settings.profile?.index === false || env.ESIGN_NO_INDEX) return undefined;
  return scopeOf(settings);
}

/** Whose replies are compared with the API document; undefined without a base URL. */
export function recordScopeOf({ baseUrl, profileName }: Settings): RecordScope | undefined {
  return baseUrl && { profile: profileName?.value, baseUrl: baseUrl.value };
}

/** Suggests ids when one does not exist. Loads what it needs only then. */
export function meantIn(client: () => Promise<Client>, { scope }: Seen): FindMeant {
  let asking: Promise<FindMeant> | undefined;
  const load = async () => {
    const [{ findMeantIn }, { cacheFile, readRecent }] = await Promise.all([
      import('../../completion/meant.ts'),
      import('../../completion/cache.ts'),
    ]);
    const file = scope && cacheFile(stateDir(), scope);
    return findMeantIn(client, (kind) => (file ? readRecent(file, kind, Date.now()) : []));
  };
  return async (missing) => {
    asking ??= load();
    return (await asking)(missing);
  };
}

/** Stores what the run has seen. Failing to write a cache or an index is not reported. */
export async function keepSeen({ recents, scope, feed, shapes }: Seen): Promise<void> {
  await feed?.settle().catch(() => undefined);
  await shapes?.write().catch(() => undefined);
  // Without an index, no subjects are kept for completion either.
  if (feed === undefined) recents.envelopes.clear();
  if (scope === undefined || recents.envelopes.size + recents.templates.size === 0) return;
  try {
    const { cacheFile, keepRecents } = await import('../../completion/cache.ts');
    keepRecents(cacheFile(stateDir(), scope), recents, Date.now());
  } catch {
    // The disk is full or read-only: completion will suggest less.
  }
}
