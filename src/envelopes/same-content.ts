import type { Envelope } from '../api/schemas.ts';
import type { RequestContent } from '../log/keys.ts';

/** Returns true if an envelope has this template and these signers, as shown by the service. Orders may be renumbered. */
export function hasSameContent(made: Envelope, content: RequestContent): boolean {
  if (!isSame(made.templateId, content.templateId)) return false;
  if (!made.signers) return true;
  const left = [...made.signers];
  const takeMatch = ({ email, name, role }: RequestContent['signers'][number]) => {
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
