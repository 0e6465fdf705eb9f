import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { REQUEST_ID_KEY } from '../envelopes/settle.ts';

/** The metadata key under which each envelope of a run carries the run's id. */
export const RUN_KEY = 'esignRun';

/** An envelope found in the list that carries a request id. */
export interface Found {
  requestId: string;
  run: string | undefined;
  envelope: Envelope;
}

/**
 * One walk over the envelopes created since a time (ms), or over all: those that carry a request id. List items that
 * show no metadata are completed with a GET when they are made from one of the templates.
 */
export async function* ownEnvelopes(
  client: Client,
  wanted: { since: number | undefined; templates: ReadonlySet<string> },
): AsyncGenerator<Found, void, undefined> {
  const items = wanted.since === undefined ? client.envelopes.list() : client.envelopes.recent(wanted.since);
  for await (const item of items) {
    if (item.templateId && !wanted.templates.has(item.templateId)) continue;
    const envelope = item.metadata === undefined ? await client.envelopes.get(item.id) : item;
    const requestId = envelope.metadata?.[REQUEST_ID_KEY];
    const run = envelope.metadata?.[RUN_KEY];
    if (typeof requestId === 'string')
      yield { requestId, run: typeof run === 'string' ? run : undefined, envelope };
  }
}
