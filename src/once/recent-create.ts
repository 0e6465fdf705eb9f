import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import { readIfExists } from '../catalog/envelope-list.ts';
import { HOUR_MS } from '../kernel/duration.ts';
import { hasEnded } from '../kernel/statuses.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import { contentIdOf } from './request-identity.ts';

/** How long ago the same content was sent to be asked about, in ms. */
const RECENT_MS = HOUR_MS;

/** An envelope that was sent, and when (ISO 8601, by the local clock). */
export interface RecentCreate {
  envelope: Envelope;
  at: string;
}

/**
 * Returns the envelope that this machine sent with the same content within the last hour, if it can still be signed or was signed. The
 * log only remembers it, so it is read.
 */
export async function findRecentCreate(
  client: Client,
  body: CreateEnvelopeBody,
  memory: WriteMemory,
  signal?: AbortSignal,
): Promise<RecentCreate | undefined> {
  const content = contentIdOf(body);
  const now = client.clock.now();
  const recent = (await memory.find([content])).filter(
    ({ intent }) =>
      intent.content === content &&
      intent.action === 'create' &&
      intent.account === client.account &&
      Math.abs(now - Date.parse(intent.at)) < RECENT_MS,
  );
  // The outcomes are only found by the keys.
  const known = await memory.find(recent.flatMap(({ intent }) => intent.key ?? []));
  for (const { state, intent, envelopeIds } of known.toReversed()) {
    const [id] = envelopeIds;
    if (state !== 'done' || id === undefined) continue;
    const envelope = await readIfExists(client, id, signal);
    // A request with an ID is created as a draft, and then sent.
    if (envelope !== undefined && envelope.status !== 'DRAFT' && !hasEnded(envelope))
      return { envelope, at: intent.at };
  }
  return undefined;
}
