import type { Client } from '../api/client.ts';
import type { Envelope, Template } from '../api/schemas.ts';

/** Something that can be completed by its id, and what tells it from others. */
export interface Recent {
  id: string;
  label: string;
  status?: string | undefined;
}

export type RecentKind = 'envelopes' | 'templates';

/** As many of each kind as are kept. */
export const RECENT_LIMIT = 200;

/** What this run has seen of the service, for completing it later. Only ids and names, and only so many. */
export interface Recents {
  envelopes: Map<string, Recent>;
  templates: Map<string, Recent>;
}

/** A collection that knows nothing yet. */
export function createRecents(): Recents {
  return { envelopes: new Map(), templates: new Map() };
}

/** The client, with what it reads noted in passing. */
export function noting(client: Client, recents: Recents): Client {
  const envelope = (seen: Envelope) =>
    note(recents.envelopes, {
      id: seen.id,
      label: seen.subject ?? seen.templateName ?? '',
      status: seen.status ?? undefined,
    });
  const template = (seen: Template) => note(recents.templates, { id: seen.id, label: seen.name ?? '' });
  const { envelopes, templates } = client;
  return {
    ...client,
    envelopes: {
      ...envelopes,
      list: (options) => each(envelopes.list(options), envelope),
      get: (id, signal) => envelopes.get(id, signal).then(told(envelope)),
      create: (body, signal) => envelopes.create(body, signal).then(told(envelope)),
    },
    templates: {
      list: (options) => each(templates.list(options), template),
      get: (id, signal) => templates.get(id, signal).then(told(template)),
    },
  };
}

function note(known: Map<string, Recent>, one: Recent): void {
  if (known.size < RECENT_LIMIT || known.has(one.id)) known.set(one.id, one);
}

function told<T>(tell: (item: T) => void): (item: T) => T {
  return (item) => {
    tell(item);
    return item;
  };
}

async function* each<T>(
  items: AsyncIterable<T>,
  tell: (item: T) => void,
): AsyncGenerator<T, void, undefined> {
  for await (const item of items) {
    tell(item);
    yield item;
  }
}
