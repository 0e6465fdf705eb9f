import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { timeOf } from '../../kernel/clock.ts';
import { isVoid, REPLACES_KEY } from '../../kernel/vocabulary.ts';
import { markedEnvelopes } from '../marked-envelopes.ts';
import { markerOf } from '../markers.ts';

/**
 * The envelope that replaces another, by its metadata: the one that was sent, otherwise the oldest draft. Not one that was
 * canceled as a draft.
 */
export async function findReplacement(
  client: Client,
  old: Envelope,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Envelope | undefined> {
  const [best] = (await replacementsOf(client, old, { signal })).toSorted(byPrecedence);
  return best && client.envelopes.get(best.id, signal);
}

/** Every envelope that replaces another, except those canceled as drafts. It was created later than the other one. */
export async function replacementsOf(
  client: Client,
  old: Envelope,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Envelope[]> {
  const found: Envelope[] = [];
  const walk = { signal, since: () => timeOf(old.createdAt) || 0, known: new Set([old.id]) };
  for await (const envelope of markedEnvelopes(client, walk))
    if (replacedBy(envelope) === old.id && !isVoid(envelope)) found.push(envelope);
  return found;
}

/** The same among a number of list items at the start of the list; none is read by itself. */
export async function findListedReplacement(
  client: Client,
  old: Envelope,
  { latest, signal }: { latest: number; signal?: AbortSignal | undefined },
): Promise<Envelope | undefined> {
  const created = timeOf(old.createdAt) || 0;
  const found: Envelope[] = [];
  let items = 0;
  for await (const item of client.envelopes.recent(() => created, signal)) {
    if (++items > latest) break;
    if (replacedBy(item) === old.id && !isVoid(item)) found.push(item);
  }
  const [best] = found.toSorted(byPrecedence);
  return best && client.envelopes.get(best.id, signal);
}

/** The id of the envelope that this one replaces; undefined when it is no replacement. */
export function replacedBy(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  const id = markerOf(envelope, REPLACES_KEY);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/**
 * Of two envelopes that replace the same one: the one that was sent comes first, then the older one, then the lower id. Every
 * machine comes to the same result.
 */
export function byPrecedence(a: Envelope, b: Envelope): number {
  const isDraft = ({ status }: Envelope) => Number(status === 'DRAFT');
  const [first, second] = [timeOf(a.createdAt), timeOf(b.createdAt)];
  const isOlder = Number.isNaN(first - second) ? 0 : first - second;
  return isDraft(a) - isDraft(b) || isOlder || (a.id < b.id ? -1 : 1);
}
