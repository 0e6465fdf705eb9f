import { inUtc, longDay } from '../../documents/drawing/times.ts';
import type { DeliveryRecord, EnvelopeRecord, MailRecord, SignerRecord } from '../../model.ts';
import type { Rules } from '../base/choices.ts';
import type { RandomId } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';
import { type EventDraft, payloadText } from './events.ts';
import type { LifecycleStep, MailDraft } from './lifecycle.ts';
import { signerOf } from './predicates.ts';

export interface StepOutcome {
  /** The changes for one line of the journal: the envelope, its emails, and its deliveries. */
  changes: StoreChange[];
  deliveries: DeliveryRecord[];
}

/** Returns the records that result from a step. Events become deliveries only if the envelope has a webhookUrl (Events). */
export function outcomeOf(
  step: LifecycleStep,
  facts: { origin: string; randomId: RandomId; rules: Rules },
): StepOutcome {
  const { origin, randomId, rules } = facts;
  const { envelope, events, mails } = step;
  const url = envelope.webhookUrl;
  const deliveries =
    url === null ? [] : events.map((draft) => newDelivery(envelope.id, url, draft, { randomId, rules }));
  const at = envelope.history.at(-1)?.at ?? envelope.createdAt;
  const mailOf = (draft: MailDraft): MailRecord => {
    const signer = signerOf(envelope, draft.signerId);
    const link = `${origin}/sign/${signer.token}`;
    return composeMail(envelope, signer, draft, { id: `mail_${randomId(10, 'mail')}`, at, link });
  };
  const changes: StoreChange[] = [
    { kind: 'envelope', value: envelope },
    ...mails.map((draft): StoreChange => ({ kind: 'mail', value: mailOf(draft) })),
    ...deliveries.map((value): StoreChange => ({ kind: 'delivery', value })),
  ];
  return { changes, deliveries };
}

/** Returns a new delivery with the same bytes. */
export function copyOf(earlier: DeliveryRecord, createdAt: string, randomId: RandomId): DeliveryRecord {
  const id = `dlv_${randomId(10, 'dlv')}`;
  return { ...earlier, id, createdAt, state: 'pending', nextAttemptAt: createdAt, attempts: [] };
}

function newDelivery(
  envelopeId: string,
  url: string,
  draft: EventDraft,
  { randomId, rules }: { randomId: RandomId; rules: Rules },
): DeliveryRecord {
  return {
    id: `dlv_${randomId(10, 'dlv')}`,
    envelopeId,
    event: draft.event,
    url,
    createdAt: draft.at,
    body: payloadText(draft, `evt_${randomId(10, 'evt')}`, rules),
    state: 'pending',
    nextAttemptAt: draft.at,
    attempts: [],
  };
}

/** Composes an email to a signer. `link` opens the signing page. */
function composeMail(
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
