import type { Observer } from '../envelope-index/observed.ts';

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

/** Notes in passing what a client reads. */
export function noting(recents: Recents): Observer {
  return {
    envelope: ({ id, subject, templateName, status }) =>
      note(recents.envelopes, { id, label: subject ?? templateName ?? '', status: status ?? undefined }),
    template: ({ id, name }) => note(recents.templates, { id, label: name ?? '' }),
  };
}

function note(known: Map<string, Recent>, one: Recent): void {
  if (known.size < RECENT_LIMIT || known.has(one.id)) known.set(one.id, one);
}
