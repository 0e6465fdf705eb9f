import type { EventName } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord, SignerRecord } from '../../model.ts';
import { signerView } from '../api/representation.ts';
import type { ServiceRules } from '../base/choices.ts';

/** An event that has not been sent yet. `data` is the payload's `data`. */
export interface EventToSend {
  event: EventName;
  at: string;
  data: Record<string, unknown>;
}

/** Returns an event; `more` is specific to it. */
export function envelopeEvent(
  event: EventName,
  envelope: EnvelopeRecord,
  at: string,
  more: Record<string, unknown> = {},
): EventToSend {
  return { event, at, data: { envelopeId: envelope.id, status: envelope.status, ...more } };
}

/** Returns an event about a signer: envelope.signed exactly as documented (Events), and others in the same format. */
export function signerEvent(
  event: EventName,
  envelope: EnvelopeRecord,
  { id, email, name }: SignerRecord,
  at: string,
  facts: Record<string, string | null>,
): EventToSend {
  return envelopeEvent(event, envelope, at, { signer: { id, email, name, ...facts } });
}

export function completedEvent(envelope: EnvelopeRecord, at: string, rules: ServiceRules): EventToSend {
  return envelopeEvent('envelope.completed', envelope, at, {
    completedAt: envelope.completedAt,
    signers: envelope.signers.map((signer) => signerView(signer, rules)),
    documentStorageKey: envelope.documentStorageKey,
    signedDocumentStorageKey: envelope.signedDocumentStorageKey,
    certificateStorageKey: envelope.certificateStorageKey,
  });
}

/** Returns the payload, whose bytes are signed and sent. */
export function payloadText(draft: EventToSend, eventId: string, rules: ServiceRules): string {
  if (rules.payload === 'type')
    return JSON.stringify({ id: eventId, type: draft.event, createdAt: draft.at, data: draft.data });
  return JSON.stringify({ event: draft.event, timestamp: draft.at, data: draft.data });
}
