import type { Envelope, Signer } from '../api/schemas.ts';
import { folded } from '../kernel/text/words.ts';

/**
 * Where the words of a question are looked up in an envelope (hasWords in kernel/text/words.ts), folded:
 * id, subject, template, metadata values, signers' names and addresses.
 */
export function textsOf(envelope: Envelope): string[] {
  const { id, subject, templateId, templateName, metadata, signers } = envelope;
  const people = (signers ?? []).flatMap(({ name, email }) => [name, email]);
  return [id, subject, templateId, templateName, ...people, ...leavesOf(metadata)].flatMap((text) =>
    text ? [folded(text)] : [],
  );
}

/** What of a signer is asked for: the name where it fits, else the address; undefined when neither does. */
export function partOf(signer: Signer, fits: (text: string) => boolean): string | undefined {
  return [signer.name, signer.email].find((text) => text && fits(folded(text))) ?? undefined;
}

/** What a value holds as text, however deep. */
function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf);
  return value === undefined || value === null ? [] : [String(value)];
}
