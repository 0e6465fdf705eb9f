import type { Envelope } from '../api/resource-types.ts';
import { runOf } from '../catalog/markers.ts';
import { timeOf } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { valueText } from '../kernel/text/exact-json.ts';

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
      return runOf(envelope) ?? null;
    case 'meta':
      return metadataOf(envelope, by.metadataKey);
    default:
      return null;
  }
}

function metadataOf({ metadata }: Envelope, key: string): string | null {
  const value = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (value === undefined || value === null || value === '') return null;
  return valueText(value);
}

const WEEK_MS = 7 * DAY_MS;
/** The first Monday after the epoch, in ms. */
const FIRST_MONDAY = 4 * DAY_MS;

/** Returns the number of the week of a time (ms) in UTC. Consecutive weeks, from Monday to Sunday, have consecutive numbers. */
export function weekNumberOf(at: number): number {
  return Math.floor((at - FIRST_MONDAY) / WEEK_MS);
}

/** Returns the ISO 8601 name of the week with this number. */
export function weekName(number: number): string {
  return weekOf(FIRST_MONDAY + number * WEEK_MS);
}

/** Returns the ISO 8601 week of a time (ms) in UTC, such as `2026-W47`. A week belongs to the year of its Thursday. */
function weekOf(at: number): string {
  const day = new Date(at).getUTCDay() || 7;
  const thursday = new Date(at + (4 - day) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const days = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  return `${year}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`;
}

/** Returns the month of a time (ms) in UTC, such as `2026-11`. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}
