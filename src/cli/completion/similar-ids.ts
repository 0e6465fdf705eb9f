import type { Client } from '../../api/client.ts';
import type { FindSimilarIds } from '../../api/resources.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { folded } from '../../kernel/text/words.ts';
import type { Recent, RecentKind } from './recent.ts';

/** The time limit for a suggestion, in ms. Later ones aren't useful. */
const TIMEOUT_MS = 5_000;
/** The number of items to read: one page with the newest ones. A suggestion needs no more. */
const MAX_ITEMS = 100;

/**
 * Suggests IDs for one that doesn't exist: those with this name, or else the most similar recent or newest ones. The list is
 * read once for all IDs of a run. Errors while reading it are ignored.
 */
export function createSimilarIdsFinder(
  client: () => Promise<Client>,
  recent: (kind: RecentKind) => Recent[],
): FindSimilarIds {
  const listed = new Map<RecentKind, Promise<Recent[]>>();
  return async ({ kind, id }) => {
    const kinds = `${kind}s` as const;
    const reading = listed.get(kinds) ?? readNewest(client, kinds);
    listed.set(kinds, reading);
    // A listed item may have been deleted.
    const known = [...recent(kinds), ...(await reading)].filter((one) => one.id !== id);
    const named = known.filter(({ label }) => kind === 'template' && folded(label) === folded(id));
    if (named.length > 0) return [...new Set(named.map((one) => one.id))];
    const near = nearest(
      id,
      known.map((one) => one.id),
    );
    return near === undefined ? [] : [near];
  };
}

async function readNewest(client: () => Promise<Client>, kind: RecentKind): Promise<Recent[]> {
  const found: Recent[] = [];
  try {
    const { templates, envelopes } = await client();
    const options = { pageSize: MAX_ITEMS, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const items = kind === 'templates' ? templates.list(options) : envelopes.list(options);
    for await (const one of items) {
      const { id, name } = one;
      if (found.push({ id, label: typeof name === 'string' ? name : '' }) >= MAX_ITEMS) break;
    }
  } catch {
    // If the list can't be read, suggest nothing.
  }
  return found;
}
