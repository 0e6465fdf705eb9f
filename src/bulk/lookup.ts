import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { REQUEST_ID_KEY } from '../envelopes/settle.ts';
import { ROW_KEY, RUN_KEY } from '../kernel/vocabulary.ts';

/** An envelope that a run made, and for which of its rows. */
export interface Sighting {
  row: number;
  envelope: Envelope;
}

/**
 * Every envelope of a run in the service's list, from a time (ms, by the machine's clock) on, in one walk: all statuses, since a draft may have
 * been sent by hand. List items that show no metadata are completed with a GET, unless their id is known already.
 */
export async function* envelopesOfRun(
  client: Client,
  wanted: { runId: string; since: number; isKnown: (id: string) => boolean },
  signal: AbortSignal,
): AsyncGenerator<Sighting, void, undefined> {
  const seen = new Set<string>();
  const since = () => client.serviceClock.earliest(wanted.since);
  for await (const item of client.envelopes.recent(since, signal)) {
    if (seen.has(item.id)) continue;
    seen.add(item.id);
    const envelope =
      item.metadata === undefined && !wanted.isKnown(item.id)
        ? await client.envelopes.get(item.id, signal)
        : item;
    if (envelope.metadata?.[RUN_KEY] !== wanted.runId) continue;
    const row = Number(envelope.metadata[ROW_KEY]);
    if (Number.isInteger(row)) yield { row, envelope };
  }
}

/** Every envelope, of whatever run, that carries a request id; items without metadata only of the given templates. */
export async function* envelopesWithRequestIds(
  client: Client,
  templates: ReadonlySet<string>,
  signal: AbortSignal,
): AsyncGenerator<{ requestId: string; envelope: Envelope }, void, undefined> {
  for await (const item of client.envelopes.list({ signal })) {
    if (item.templateId && !templates.has(item.templateId)) continue;
    const envelope = item.metadata === undefined ? await client.envelopes.get(item.id, signal) : item;
    const requestId = envelope.metadata?.[REQUEST_ID_KEY];
    if (typeof requestId === 'string') yield { requestId, envelope };
  }
}
