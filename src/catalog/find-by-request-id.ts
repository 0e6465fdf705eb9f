import type { Client } from '../api/client.ts';
import { MAX_LIST_LAG_MS } from '../api/recent-pages.ts';
import type { Envelope } from '../api/schemas.ts';
import { isVoid } from '../kernel/vocabulary.ts';
import { type MarkedEnvelopesOptions, markedEnvelopes } from './marked-envelopes.ts';
import { requestIdOf } from './markers.ts';

/** Called when a search begins that may take a minute. Returns a function to call when it ends. */
export type OnSearchStart = () => () => void;

/** Pauses between searches, in ms. The last search runs when the time is up. */
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
    const envelope = await client.envelopes.get(listed.id, walk.signal);
    if (!isVoid(envelope)) return envelope;
    found ??= envelope;
  }
  return found;
}

/**
 * Searches for an envelope until it must have appeared in the list. `msLeft` returns how long that may still take. It is called
 * before and after the first search, whose responses may show that a clock is wrong.
 */
export async function searchUntilListed(
  client: Client,
  requestId: string,
  options: Pick<MarkedEnvelopesOptions, 'signal' | 'since'> & {
    msLeft: () => number;
    searching?: OnSearchStart | undefined;
    /** Called when a search fails, before the next one. Without it, the error is thrown. */
    onError?: ((error: Error) => void) | undefined;
  },
): Promise<Envelope | undefined> {
  const { signal, since, msLeft, onError } = options;
  const known = new Set<string>();
  const search = () =>
    findByRequestId(client, requestId, { signal, since, known }).catch((error: unknown) => {
      if (onError === undefined || !(error instanceof Error)) throw error;
      onError(error);
      return undefined;
    });
  const ended = options.searching?.();
  try {
    const before = msLeft();
    let found = await search();
    let left = Math.max(before, msLeft());
    for (let pauses = 0; found === undefined && left > 0; pauses++) {
      const pause = Math.min(PAUSES_MS[pauses] ?? MAX_LIST_LAG_MS, left);
      await client.clock.sleep(pause, signal);
      left -= pause;
      found = await search();
    }
    return found;
  } finally {
    ended?.();
  }
}
