import type { Envelope } from '../api/schemas.ts';
import { timeOf } from '../kernel/clock.ts';
import { RUN_KEY } from '../kernel/vocabulary.ts';
import { monthOf, weekOf } from './weeks.ts';

/** The criterion by which a report groups envelopes. */
export type GroupBy =
  | { kind: 'template' | 'role' | 'month' | 'week' | 'run' }
  | { kind: 'meta'; metadataKey: string };

/** The group of an envelope; null for an envelope without that property. */
export interface GroupKey {
  key: string | null;
  name: string | null;
}

/**
 * Returns the group of an envelope. Grouping by role is not possible here, because a role is not a property of the whole
 * envelope.
 */
export function groupOf(envelope: Envelope, by: GroupBy): GroupKey {
  if (by.kind === 'template')
    return { key: envelope.templateId || null, name: envelope.templateName || envelope.templateId || null };
  const key = keyOf(envelope, by);
  return { key, name: key };
}

function keyOf(envelope: Envelope, by: GroupBy): string | null {
  const sentAt = timeOf(envelope.sentAt);
  switch (by.kind) {
    case 'month':
      return Number.isNaN(sentAt) ? null : monthOf(sentAt);
    case 'week':
      return Number.isNaN(sentAt) ? null : weekOf(sentAt);
    case 'run':
      return metadataOf(envelope, RUN_KEY);
    case 'meta':
      return metadataOf(envelope, by.metadataKey);
    default:
      return null;
  }
}

function metadataOf({ metadata }: Envelope, key: string): string | null {
  const value = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
