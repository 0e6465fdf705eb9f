import type { Client } from '../api/client.ts';
import type { Envelope, Template } from '../api/schemas.ts';

/** Receives everything that a client reads. `alone`: the envelope was requested by its ID. */
export interface Observer {
  envelope(seen: Envelope, alone: boolean): void;
  template?(seen: Template): void;
}

/** Returns a client that passes everything it reads to observers. */
export function observed(client: Client, observers: readonly Observer[]): Client {
  const { envelopes, templates } = client;
  const notify = (seen: Envelope, alone: boolean) => {
    for (const observer of observers) observer.envelope(seen, alone);
  };
  const item = (seen: Envelope) => notify(seen, false);
  const alone = (seen: Envelope) => notify(seen, true);
  // The response to a write may contain only a part of the envelope.
  const reply = (seen: Envelope | undefined) => {
    if (seen) notify(seen, false);
  };
  const template = (seen: Template) => {
    for (const observer of observers) observer.template?.(seen);
  };
  return {
    ...client,
    envelopes: {
      list: (options) => each(envelopes.list(options), item),
      page: async (number, options) => {
        const page = await envelopes.page(number, options);
        page.items.forEach(item);
        return page;
      },
      recent: (since, signal) => each(envelopes.recent(since, signal), item),
      get: (id, signal) => envelopes.get(id, signal).then(notifying(alone)),
      create: (body, signal) => envelopes.create(body, signal).then(notifying(item)),
      send: (id, signal) => envelopes.send(id, signal).then(notifying(reply)),
      cancel: (id, reason, signal) => envelopes.cancel(id, reason, signal).then(notifying(reply)),
      remind: (id, signerId, signal) => envelopes.remind(id, signerId, signal).then(notifying(reply)),
    },
    templates: {
      list: (options) => each(templates.list(options), template),
      get: (id, signal) => templates.get(id, signal).then(notifying(template)),
    },
  };
}

function notifying<T>(note: (item: T) => void): (item: T) => T {
  return (item) => {
    note(item);
    return item;
  };
}

async function* each<T>(
  items: AsyncIterable<T>,
  note: (item: T) => void,
): AsyncGenerator<T, void, undefined> {
  for await (const item of items) {
    note(item);
    yield item;
  }
}
