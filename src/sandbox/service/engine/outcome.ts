import { inUtc, longDay } from '../../documents/drawing/times.ts';
import type { DeliveryRecord, EnvelopeRecord, MailRecord } from '../../model.ts';
import type { Rules } from '../base/choices.ts';
import type { RandomId } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';
import { type EventDraft, payloadText } from './events.ts';
import type { LifecycleStep, MailDraft } from './lifecycle.ts';
import { signerOf } from './predicates.ts';

interface OutcomeFacts {
  origin: string;
  randomId: RandomId;
  rules: Rules;
}

/**
 * Returns the records that result from a step. The changes are for one line of the journal: the envelope, its emails, and its deliveries.
 * Events become deliveries only if the envelope has a webhookUrl (Events).
 */
export function outcomeOf(
  { envelope, events, mails }: LifecycleStep,
  facts: OutcomeFacts,
): { changes: StoreChange[]; deliveries: DeliveryRecord[] } {
  const url = envelope.webhookUrl;
  const deliveries = url === null ? [] : events.map((draft) => newDelivery(envelope.id, url, draft, facts));
  const changes: StoreChange[] = [
    { kind: 'envelope', value: envelope },
    ...mails.map((draft): StoreChange => ({ kind: 'mail', value: composeMail(envelope, draft, facts) })),
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
  { randomId, rules }: OutcomeFacts,
): DeliveryRecord {
  return {
    id: `dlv_${randomId(10, 'dlv')}`,
    envelopeId,
    event: draft.event,
    url,
    createdAt: draft.at,
    state: 'pending',
    nextAttemptAt: draft.at,
    attempts: [],
    body: payloadText(draft, `evt_${randomId(10, 'evt')}`, rules),
  };
}

function composeMail(
  envelope: EnvelopeRecord,
  { kind, signerId }: MailDraft,
  { origin, randomId }: OutcomeFacts,
): MailRecord {
  const { email, name, token } = signerOf(envelope, signerId);
  const { subject, lines } = wording(kind, envelope, `${origin}/sign/${token}`);
  return {
    id: `mail_${randomId(10, 'mail')}`,
    at: envelope.history.at(-1)?.at ?? envelope.createdAt,
    kind,
    envelopeId: envelope.id,
    signerId,
    to: email,
    subject,
    text: [`Hello ${name},`, ...lines].join('\n\n'),
  };
}

function wording(kind: MailRecord['kind'], envelope: EnvelopeRecord, link: string) {
  const { subject, message, templateName, expiresAt } = envelope;
  if (kind !== 'request' && kind !== 'reminder') {
    const [news, text] = NEWS[kind];
    return { subject: `${news}: ${subject}`, lines: [text(templateName)] };
  }
  const lines = [
    `Open and sign "${templateName}" here:\n${link}`,
    `Sign by ${longDay(expiresAt)}. The link expires at ${inUtc(expiresAt)}.`,
  ];
  return {
    subject: kind === 'reminder' ? `Reminder: ${subject}` : subject,
    lines: message === '' ? lines : [message, ...lines],
  };
}

type News = Exclude<MailRecord['kind'], 'request' | 'reminder'>;

const NEWS: Record<News, [subject: string, text: (template: string) => string]> = {
  completed: ['Completed', (template) => `Everyone has signed "${template}".`],
  declined: ['Declined', (template) => `"${template}" was declined by a signer.`],
  cancelled: ['Canceled', (template) => `The request to sign "${template}" was canceled.`],
  expired: ['Expired', (template) => `The request to sign "${template}" has expired.`],
};
