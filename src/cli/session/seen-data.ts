import type { FindSimilarIds } from '../../api/resources.ts';
import { type IndexScope, indexPath } from '../../catalog/index/file-store.ts';
import type { IndexWriter } from '../../catalog/index/index-writer.ts';
import { findStateDir } from '../../kernel/files/paths.ts';
import type { Settings } from '../../settings/resolve.ts';
import type { Recents } from '../completion/recent.ts';

/** Returns the account to which seen IDs belong, or undefined without a base URL or key. */
export function indexScopeOf({ baseUrl, profileName, apiKey }: Settings): IndexScope | undefined {
  if (baseUrl === undefined || apiKey === undefined) return undefined;
  return { baseUrl: baseUrl.value, profile: profileName?.value, apiKey: apiKey.value };
}

/** The data that the service returned in this run, and the account it belongs to. */
export interface Observations {
  recents: Recents;
  scope: IndexScope | undefined;
  /** Adds envelopes that were read to the index. Undefined if the index is disabled. */
  index: IndexWriter | undefined;
}

/** Returns the path of the index, or undefined if it is disabled or there is no home folder. */
export function indexPathOf(settings: Settings): string | undefined {
  if (settings.profile?.index === false || process.env.ESIGN_NO_INDEX) return undefined;
  const scope = indexScopeOf(settings);
  const folder = findStateDir();
  return scope && folder && indexPath(folder, scope);
}

/** Suggests known IDs for one that doesn't exist, without a request. The code for that is loaded only when needed. */
export function similarIdsFinder({ scope, index }: Observations): FindSimilarIds {
  return async (missing) => {
    const folder = findStateDir();
    if (scope === undefined || folder === undefined) return [];
    const [{ suggestIds }, { cacheFile, readRecent }] = await Promise.all([
      import('../completion/similar-ids.ts'),
      import('../completion/cache.ts'),
    ]);
    const recent = readRecent(cacheFile(folder, scope), `${missing.kind}s`, Date.now());
    const similar = suggestIds(missing, recent);
    if (similar.length > 0 || missing.kind !== 'envelope' || index === undefined) return similar;
    const { readIndex } = await import('../../catalog/index/read-index.ts');
    const { known } = await readIndex(index.store);
    return suggestIds(
      missing,
      [...known.keys()].map((id) => ({ id, label: '' })),
    );
  };
}

/** Saves what the run has seen. If a cache or an index can't be written, no error is reported. */
export async function saveObservations({ recents, scope, index }: Observations): Promise<void> {
  index?.flush();
  // Without an index, no envelope subjects are stored for completion, either.
  if (index === undefined) recents.envelopes.clear();
  const folder = findStateDir();
  if (scope === undefined || folder === undefined || recents.envelopes.size + recents.templates.size === 0)
    return;
  try {
    const { cacheFile, keepRecents } = await import('../completion/cache.ts');
    keepRecents(cacheFile(folder, scope), recents, Date.now());
  } catch {
    // The disk is full or read-only, so completion will have fewer suggestions.
  }
}
