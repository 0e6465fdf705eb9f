import type { DeliveryRecord } from '../../model.ts';
import type { ServiceRules } from '../base/choices.ts';
import type { RandomId } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';
import { type EventToSend, payloadText } from './events.ts';
import type { LifecycleStep } from './lifecycle.ts';
import { composeMail } from './mails.ts';

interface OutcomeFacts {
  randomId: RandomId;
  rules: ServiceRules;
}

/**
 * Returns the records that result from a step. The changes are for one line of the journal: the envelope, its emails, and its deliveries.
 * Events become deliveries only if the envelope has a webhookUrl (Events).
 */
export function recordsOfStep(
  { envelope, events, mails }: LifecycleStep,
  facts: OutcomeFacts,
): { changes: StoreChange[]; deliveries: DeliveryRecord[] } {
  const url = envelope.webhookUrl;
  const deliveries = url === null ? [] : events.map((draft) => newDelivery(envelope.id, url, draft, facts));
  const changes: StoreChange[] = [
    { kind: 'envelope', value: envelope },
    ...mails.map(
      (draft): StoreChange => ({ kind: 'mail', value: composeMail(envelope, draft, facts.randomId) }),
    ),
    ...deliveries.map((value): StoreChange => ({ kind: 'delivery', value })),
  ];
  return { changes, deliveries };
}

/** Returns a new delivery with the same bytes. */
export function copyDelivery(earlier: DeliveryRecord, createdAt: string, randomId: RandomId): DeliveryRecord {
  const id = `dlv_${randomId(10, 'dlv')}`;
  return { ...earlier, id, createdAt, state: 'pending', nextAttemptAt: createdAt, attempts: [] };
}

function newDelivery(
  envelopeId: string,
  url: string,
  draft: EventToSend,
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
