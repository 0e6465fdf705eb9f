import type { EnvelopeInput } from '../../envelopes/create.ts';
import { digest } from '../../log/keys.ts';

/**
 * Returns a hash of a row's template, signers, subject, message, and metadata. Two rows with the same hash would send the same
 * email to the same people, however their files are written.
 */
export function contentHash({ templateId, signers, subject, message, metadata }: EnvelopeInput): string {
  const people = signers.map(({ email, name, role, order }) => [email.toLowerCase(), name, role, order]);
  return digest([templateId, people, subject, message, metadata]);
}
