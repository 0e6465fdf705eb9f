import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { ServiceError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { isTerminal } from '../kernel/vocabulary.ts';

/** What one look found: the envelope, or that the service does not know it. */
export type Look =
  | { id: string; envelope: Envelope; error?: undefined }
  | { id: string; envelope?: undefined; error: Error };

/** So few are asked for one by one. */
const FEW = 10;
const CONCURRENCY = 8;

/**
 * Looks at each of the envelopes once, by list pages where those are fewer requests than envelopes: of the statuses they
 * had, since one that has left them is then asked for by itself; of all envelopes when their statuses are not known yet.
 */
export async function* lookAt(
  client: Client,
  ids: ReadonlySet<string>,
  statuses: ReadonlyMap<string, string>,
  signal?: AbortSignal,
): AsyncGenerator<Look, void, undefined> {
  const open = new Set(ids);
  if (open.size > FEW) {
    const isKnown = [...open].every((id) => !isTerminal(statuses.get(id) ?? 'COMPLETED'));
    const lists = isKnown ? [...new Set(statuses.values())] : [undefined];
    for (const status of lists) yield* fromList(client, open, { status, statuses, signal });
  }
  for await (const look of mapInOrder([...open], CONCURRENCY, (id) => lookAtOne(client, id, signal)))
    yield look;
}

/** Those of the open ones that the list has; they are no longer open then. Ends when asking one by one is cheaper. */
async function* fromList(
  client: Client,
  open: Set<string>,
  wanted: {
    status: string | undefined;
    statuses: ReadonlyMap<string, string>;
    signal: AbortSignal | undefined;
  },
): AsyncGenerator<Look, void, undefined> {
  const { status, statuses, signal } = wanted;
  for (let number = 1, last = 1; number <= last; number++) {
    const { items, totalPages } = await client.envelopes.page(number, { status, signal });
    last = totalPages ?? (items.length > 0 ? number + 1 : number);
    for (const envelope of items) {
      // Its signers are needed once it has moved, and lists may lack them: it stays open and is asked for by itself.
      const hasMoved = envelope.status !== statuses.get(envelope.id);
      if (hasMoved && envelope.signers === undefined) continue;
      if (open.delete(envelope.id)) yield { id: envelope.id, envelope };
    }
    if (last - number >= open.size) return;
  }
}

async function lookAtOne(client: Client, id: string, signal: AbortSignal | undefined): Promise<Look> {
  try {
    return { id, envelope: await client.envelopes.get(id, signal) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return { id, error };
    throw error;
  }
}
