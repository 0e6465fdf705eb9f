import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { markedEnvelopes, readIfExists } from '../../catalog/envelope-list.ts';
import { replacedBy } from '../../catalog/markers.ts';
import { timeOf } from '../../kernel/clock.ts';
import { isVoid } from '../../kernel/statuses.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import { loggedEnvelopes } from '../../once/logged-creates.ts';
import { byPrecedence } from '../../once/precedence.ts';

/**
 * Returns the request ID of the envelope that replaces this one. It is always the same, so that the log of writes finds what an
 * earlier run of the same command did.
 */
export function replacementId(oldId: string): string {
  return `replace-${oldId}`;
}

/** Returns the envelope that this machine made to replace another, unless it was canceled as a draft. */
export async function findOwnReplacement(
  client: Client,
  oldId: string,
  memory: WriteMemory,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const id = (await loggedEnvelopes(client, memory, replacementId(oldId))).at(-1);
  const made = id === undefined ? undefined : await readIfExists(client, id, signal);
  // If the service doesn't return metadata, the log is enough.
  return made && (replacedBy(made) ?? oldId) === oldId && !isVoid(made) ? made : undefined;
}

/**
 * Returns the envelope that replaces another, by its metadata: the one that was sent, or otherwise the oldest draft. Ignores
 * those that were canceled as drafts.
 */
export async function findReplacement(
  client: Client,
  old: Envelope,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const [best] = (await replacementsOf(client, old, signal)).toSorted(byPrecedence);
  return best && client.envelopes.get(best.id, signal);
}

/** Returns all envelopes that replace this one, except those canceled as drafts. They were created after it. */
export async function replacementsOf(
  client: Client,
  old: Envelope,
  signal?: AbortSignal,
): Promise<Envelope[]> {
  const found: Envelope[] = [];
  const walk = { signal, since: () => timeOf(old.createdAt) || 0, known: new Set([old.id]) };
  for await (const envelope of markedEnvelopes(client, walk))
    if (replacedBy(envelope) === old.id && !isVoid(envelope)) found.push(envelope);
  return found;
}
