import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { isVoid } from '../kernel/statuses.ts';
import { MAX_LIST_LAG_MS, type MarkedEnvelopesOptions, markedEnvelopes } from './envelope-list.ts';
import { requestIdOf } from './markers.ts';

/** Called when a search begins that may take a minute. Returns a function to call when it ends. */
export type OnSearchStart = () => () => void;

/** Pauses between looks, in ms. The last look is when the time is up. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

/** Returns the envelope with this request ID. One that was canceled as a draft emailed nobody, so any other one comes first. */
export async function findByRequestId(
  client: Client,
  requestId: string,
  walk: MarkedEnvelopesOptions = {},
): Promise<Envelope | undefined> {
  let found: Envelope | undefined;
  for await (const listed of markedEnvelopes(client, walk)) {
    if (requestIdOf(listed) !== requestId) continue;
    const envelope = await client.envelopes.getListed(listed.id, walk.signal);
    if (!isVoid(envelope)) return envelope;
    found ??= envelope;
  }
  return found;
}

/**
 * Looks again and again until something is found or an envelope must have appeared in the list. `msLeft` returns how long that
 * may still take. It is called before and after the first look, whose responses may show that a clock is wrong; then the pauses
 * count, so that a clock that is set doesn't matter.
 */
export async function repeatUntilListed<T>(
  client: Client,
  look: () => Promise<T | undefined>,
  options: { msLeft: () => number; searching?: OnSearchStart | undefined; signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  const { msLeft, searching, signal } = options;
  const ended = searching?.();
  try {
    const before = msLeft();
    let found = await look();
    let left = Math.max(before, msLeft());
    for (let pauses = 0; found === undefined && left > 0; pauses++) {
      const pause = Math.min(PAUSES_MS[pauses] ?? MAX_LIST_LAG_MS, left);
      await client.clock.sleep(pause, signal);
      left -= pause;
      found = await look();
    }
    return found;
  } finally {
    ended?.();
  }
}
