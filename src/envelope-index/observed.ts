import type { Client } from '../api/client.ts';
import type { Envelope, Template } from '../api/schemas.ts';

/** Told of all that a client reads, in passing. `alone`: the service was asked for this one envelope. */
export interface Observer {
  envelope(seen: Envelope, alone: boolean): void;
  template?(seen: Template): void;
}

/** The client, with what it reads told to observers. */
export function observed(client: Client, observers: readonly Observer[]): Client {
  const { envelopes, templates } = client;
  const tell = (seen: Envelope, alone: boolean) => {
    for (const observer of observers) observer.envelope(seen, alone);
  };
  const item = (seen: Envelope) => tell(seen, false);
  const alone = (seen: Envelope) => tell(seen, true);
  // What a write answers may be a part of the envelope.
  const reply = (seen: Envelope | undefined) => {
    if (seen) tell(seen, false);
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
      get: (id, signal) => envelopes.get(id, signal).then(told(alone)),
      create: (body, signal) => envelopes.create(body, signal).then(told(item)),
      send: (id, signal) => envelopes.send(id, signal).then(told(reply)),
      cancel: (id, reason, signal) => envelopes.cancel(id, reason, signal).then(told(reply)),
      remind: (id, signerId, signal) => envelopes.remind(id, signerId, signal).then(told(reply)),
    },
    templates: {
      list: (options) => each(templates.list(options), template),
      get: (id, signal) => templates.get(id, signal).then(told(template)),
    },
  };
}

function told<T>(note: (item: T) => void): (item: T) => T {
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
