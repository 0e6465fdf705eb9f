import { inUtc, longDay } from '../../documents/drawing/times.ts';
import type { EnvelopeRecord, MailRecord, SignerRecord } from '../../model.ts';
import type { MailDraft } from './lifecycle.ts';

/** Composes an email to a signer. `link` opens the signing page. */
export function composeMail(
  envelope: EnvelopeRecord,
  signer: SignerRecord,
  draft: MailDraft,
  facts: { id: string; at: string; link: string },
): MailRecord {
  const { subject, lines } = wording(draft.kind, envelope, facts.link);
  return {
    id: facts.id,
    at: facts.at,
    kind: draft.kind,
    envelopeId: envelope.id,
    signerId: signer.id,
    to: signer.email,
    subject,
    text: [`Hello ${signer.name},`, ...lines].join('\n\n'),
  };
}

function wording(kind: MailRecord['kind'], envelope: EnvelopeRecord, link: string) {
  const { subject, templateName } = envelope;
  const note = envelope.message === '' ? [] : [envelope.message];
  const invitation = [...note, `Open and sign "${templateName}" here:\n${link}`];
  const until = `Sign by ${longDay(envelope.expiresAt)}. The link expires at ${inUtc(envelope.expiresAt)}.`;
  switch (kind) {
    case 'request':
      return { subject, lines: [...invitation, until] };
    case 'reminder':
      return { subject: `Reminder: ${subject}`, lines: [...invitation, until] };
    case 'completed':
      return { subject: `Completed: ${subject}`, lines: [`Everyone has signed "${templateName}".`] };
    case 'declined':
      return { subject: `Declined: ${subject}`, lines: [`"${templateName}" was declined by a signer.`] };
    case 'cancelled':
      return {
        subject: `Canceled: ${subject}`,
        lines: [`The request to sign "${templateName}" was canceled.`],
      };
    case 'expired':
      return {
        subject: `Expired: ${subject}`,
        lines: [`The request to sign "${templateName}" has expired.`],
      };
  }
}
