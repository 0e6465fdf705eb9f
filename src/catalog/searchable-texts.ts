import type { Envelope, Signer } from '../api/resource-types.ts';
import { isInFlight, showsSigners } from '../kernel/statuses.ts';
import { foldText } from '../kernel/text/search-words.ts';

/**
 * Returns the case-folded texts that a search looks through (matchesAllWords in kernel/text/search-words.ts): ID, subject, template, metadata
 * values, and signers' names and addresses.
 */
export function searchableTexts(envelope: Envelope): string[] {
  const { id, subject, templateId, templateName, metadata, signers } = envelope;
  const people = (signers ?? []).flatMap(({ name, email }) => [name, email]);
  return [id, subject, templateId, templateName, ...people, ...leavesOf(metadata)].flatMap((text) =>
    text ? [foldText(text)] : [],
  );
}

/**
 * Returns true if an item of a list has every field that searches and statistics need. The API document doesn't show these items,
 * so a service may leave fields out.
 */
export function isWholeItem(item: Envelope): boolean {
  const { templateId, createdAt, sentAt, expiresAt, completedAt, status, metadata } = item;
  const hasTimes =
    (expiresAt !== undefined || !isInFlight(status)) &&
    (sentAt !== undefined || status === 'DRAFT') &&
    (completedAt !== undefined || status !== 'COMPLETED');
  return Boolean(templateId && createdAt) && hasTimes && metadata !== undefined && showsSigners(item);
}

/** Returns the part of a signer that matches: the name, or otherwise the address; undefined if neither does. */
export function matchedNameOrAddress(signer: Signer, matches: (text: string) => boolean): string | undefined {
  return [signer.name, signer.email].find((text) => text && matches(foldText(text))) ?? undefined;
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return value === undefined || value === null ? [] : [String(value)];
}
