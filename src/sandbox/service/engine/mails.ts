import { formatDay, formatTime } from '../../documents/times.ts';
import type { SandboxMail } from '../../embed-model.ts';
import type { EnvelopeRecord, MailRecord, SignerRecord } from '../../model.ts';
import type { RandomId } from '../store/keys.ts';
import type { MailDraft } from './lifecycle.ts';
import { signerOf } from './predicates.ts';

/* Emails. Their text follows from the envelope, so it is written when it is read and not stored. */

export function composeMail(
  envelope: EnvelopeRecord,
  { kind, signerId }: MailDraft,
  randomId: RandomId,
): MailRecord {
  return {
    id: `mail_${randomId(10, 'mail')}`,
    at: envelope.history.at(-1)?.at ?? envelope.createdAt,
    kind,
    envelopeId: envelope.id,
    signerId,
    to: signerOf(envelope, signerId).email,
  };
}

/** Returns an email with its text and the signer's link. `origin` is the sandbox's current address. */
export function mailView(
  mail: MailRecord,
  envelope: EnvelopeRecord | undefined,
  origin: string,
): SandboxMail {
  const signer = envelope?.signers.find((one) => one.id === mail.signerId);
  if (envelope === undefined || signer === undefined) return { ...mail, subject: '', text: '', link: null };
  const { id, at, kind, envelopeId, signerId, to } = mail;
  return { id, at, kind, envelopeId, signerId, to, ...mailText(kind, envelope, signer, origin) };
}

function mailText(kind: MailRecord['kind'], envelope: EnvelopeRecord, signer: SignerRecord, origin: string) {
  const { message, templateName, expiresAt } = envelope;
  const hello = `Hello ${signer.name},`;
  if (kind !== 'request' && kind !== 'reminder')
    return {
      subject: subjectOf(kind, envelope),
      text: `${hello}\n\n${NEWS[kind].text(templateName)}`,
      link: null,
    };
  const link = `${origin}/sign/${signer.token}`;
  const lines = [
    hello,
    ...(message === '' ? [] : [message]),
    `Open and sign "${templateName}" here:\n${link}`,
    `Sign by ${formatDay(expiresAt)}. The link expires at ${formatTime(expiresAt)}.`,
  ];
  return { subject: subjectOf(kind, envelope), text: lines.join('\n\n'), link };
}

/** Returns the subject of an email about an envelope. */
export function subjectOf(kind: MailRecord['kind'], { subject }: EnvelopeRecord): string {
  if (kind === 'request') return subject;
  return kind === 'reminder' ? `Reminder: ${subject}` : `${NEWS[kind].subject}: ${subject}`;
}

type News = Exclude<MailRecord['kind'], 'request' | 'reminder'>;

const NEWS: Record<News, { subject: string; text: (template: string) => string }> = {
  completed: { subject: 'Completed', text: (template) => `Everyone has signed "${template}".` },
  declined: { subject: 'Declined', text: (template) => `"${template}" was declined by a signer.` },
  cancelled: {
    subject: 'Canceled',
    text: (template) => `The request to sign "${template}" was canceled.`,
  },
  expired: { subject: 'Expired', text: (template) => `The request to sign "${template}" has expired.` },
};
