import { createHash } from 'node:crypto';
import type { EnvelopeInput } from '../../envelopes/create.ts';
import { isRecord } from '../../kernel/json.ts';

/** The length of a hash in bytes, so that no two rows on a machine share one by chance. */
const BYTES = 12;

/**
 * Returns a hash of a row's template, signers, subject, message, and metadata. Two rows with the same hash would send the same
 * email to the same people, however their files are written.
 */
export function contentHash({ templateId, signers, subject, message, metadata }: EnvelopeInput): string {
  const people = signers.map(({ email, name, role, order }) => [email.toLowerCase(), name, role, order]);
  return hashOf([templateId, people, subject, message, metadata]);
}

/** Returns the hash of a row's cells as they are in the file. It identifies the row even after it was moved. */
export function cellsHash(value: unknown): string {
  return hashOf(value);
}

function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest()
    .toString('hex', 0, BYTES);
}

/** Returns the value with objects as sorted lists of their entries. In a list, missing values count as null. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, sorted(inner)]);
}
