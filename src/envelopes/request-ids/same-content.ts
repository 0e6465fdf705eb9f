import { hash } from 'node:crypto';
import type { Envelope } from '../../api/schemas.ts';
import type { SignerInput } from '../signer-mailbox.ts';
import type { KnownRequest } from './request-ids.ts';

/** The content that a request ID identifies. */
export interface RequestContent {
  templateId: string;
  signers: readonly Readonly<SignerInput>[];
}

/**
 * Returns a hash of the template and the signers (address, name, role, order). The case of an address and the sequence of the
 * signers don't matter.
 */
export function contentOf({ templateId, signers }: RequestContent): string {
  const people = signers.map(({ email, name, role, order }) =>
    JSON.stringify([email.trim().toLowerCase(), name.trim(), role ?? null, order ?? null]),
  );
  return hash('sha256', JSON.stringify([1, templateId, people.sort()])).slice(0, 32);
}

/** Returns true if the ID was used for other content. A damaged record doesn't show its content. */
export function isOtherContent(known: KnownRequest, content: string): boolean {
  return 'content' in known && known.content !== '' && known.content !== content;
}

/** Returns true if an envelope has this template and these signers, as shown by the service. Orders may be renumbered. */
export function hasSameContent(made: Envelope, content: RequestContent): boolean {
  if (!isSame(made.templateId, content.templateId)) return false;
  if (!made.signers) return true;
  const left = [...made.signers];
  const takeMatch = ({ email, name, role }: SignerInput) => {
    const at = left.findIndex(
      (one) =>
        one.email?.toLowerCase() === email.trim().toLowerCase() &&
        isSame(one.name, name) &&
        isSame(one.role, role),
    );
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
  return content.signers.every(takeMatch) && left.length === 0;
}

/** Like `hasSameContent`, but also compares the subject and the message. */
export function isSameEnvelope(
  made: Envelope,
  content: RequestContent & { subject?: string | undefined; message?: string | undefined },
): boolean {
  return (
    hasSameContent(made, content) &&
    isSame(made.subject, content.subject) &&
    isSame(made.message, content.message)
  );
}

/** Returns true if the texts are the same, or one of them isn't known. */
function isSame(shown: string | null | undefined, expected: string | undefined): boolean {
  return expected === undefined || shown === undefined || shown === null || shown.trim() === expected.trim();
}
