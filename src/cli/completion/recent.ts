import type { Envelope, Template } from '../../api/resource-types.ts';

/** An item that can be completed by its ID, with a description. */
export interface Recent {
  id: string;
  label: string;
  status?: string | undefined;
}

export type RecentKind = 'envelopes' | 'templates';

/** The maximum number of items of each kind. */
export const RECENT_LIMIT = 200;

/** IDs and names that this run has seen, stored for later completion. */
export type Recents = Record<RecentKind, Map<string, Recent>>;

/** Returns an empty collection. */
export function createRecents(): Recents {
  return { envelopes: new Map(), templates: new Map() };
}

/** Adds an envelope that was read, and its template, for completion. */
export function noteEnvelope({ envelopes, templates }: Recents, envelope: Envelope): void {
  const { id, subject, templateId, templateName, status } = envelope;
  note(envelopes, { id, label: subject ?? templateName ?? '', status: status ?? undefined });
  if (templateId && !templates.has(templateId))
    note(templates, { id: templateId, label: templateName ?? '' });
}

/** Adds a template that was read, for completion. */
export function noteTemplate({ templates }: Recents, { id, name }: Template): void {
  note(templates, { id, label: name ?? '' });
}

function note(known: Map<string, Recent>, one: Recent): void {
  if (known.size < RECENT_LIMIT || known.has(one.id)) known.set(one.id, one);
}
