import type { EventName } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord, SignerRecord } from '../../model.ts';
import { signerView } from '../api/representation.ts';
import type { Rules } from '../base/choices.ts';

/** An event that has not been sent yet. `data` is the payload's `data`. */
export interface EventDraft {
  event: EventName;
  at: string;
  data: Record<string, unknown>;
}

/** Returns envelope.signed exactly as documented (Events), with the status IN_PROGRESS. */
export function signedEvent(
  envelope: EnvelopeRecord,
  signer: SignerRecord,
  at: string,
  status: 'IN_PROGRESS' | 'COMPLETED',
): EventDraft {
  const { id, email, name, signedAt } = signer;
  return {
    event: 'envelope.signed',
    at,
    data: { envelopeId: envelope.id, status, signer: { id, email, name, signedAt } },
  };
}

/** Returns an event in the same format for events whose payload the API document doesn't show; `more` is specific to the event. */
export function envelopeEvent(
  event: EventName,
  envelope: EnvelopeRecord,
  at: string,
  more: Record<string, unknown> = {},
): EventDraft {
  return { event, at, data: { envelopeId: envelope.id, status: envelope.status, ...more } };
}

export function completedEvent(envelope: EnvelopeRecord, at: string, rules: Rules): EventDraft {
  return envelopeEvent('envelope.completed', envelope, at, {
    completedAt: envelope.completedAt,
    signers: envelope.signers.map((signer) => signerView(signer, rules)),
    documentStorageKey: envelope.documentStorageKey,
    signedDocumentStorageKey: envelope.signedDocumentStorageKey,
    certificateStorageKey: envelope.certificateStorageKey,
  });
}

/** Returns the payload, whose bytes are signed and sent. */
export function payloadText(draft: EventDraft, eventId: string, rules: Rules): string {
  if (rules.payload === 'type')
    return JSON.stringify({ id: eventId, type: draft.event, createdAt: draft.at, data: draft.data });
  return JSON.stringify({ event: draft.event, timestamp: draft.at, data: draft.data });
}
