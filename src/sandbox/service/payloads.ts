import type { EventName } from '../../kernel/vocabulary.ts';
import type { EnvelopeRecord, SignerRecord } from '../model.ts';
import { signerView } from './representation.ts';

/** Something that happened, before anyone is told. `data` is the payload's `data`. */
export interface EventDraft {
  event: EventName;
  at: string;
  data: Record<string, unknown>;
}

/**
 * envelope.signed exactly as documented (Events): the status is IN_PROGRESS for the last signature as well,
 * since envelope.completed follows.
 */
export function signedEvent(envelope: EnvelopeRecord, signer: SignerRecord, at: string): EventDraft {
  const { id, email, name, signedAt } = signer;
  return {
    event: 'envelope.signed',
    at,
    data: { envelopeId: envelope.id, status: 'IN_PROGRESS', signer: { id, email, name, signedAt } },
  };
}

/** The same frame for the events whose payload the document does not show; `more` holds what each adds. */
export function envelopeEvent(
  event: EventName,
  envelope: EnvelopeRecord,
  at: string,
  more: Record<string, unknown> = {},
): EventDraft {
  return { event, at, data: { envelopeId: envelope.id, status: envelope.status, ...more } };
}

export function completedEvent(envelope: EnvelopeRecord, at: string): EventDraft {
  return envelopeEvent('envelope.completed', envelope, at, {
    completedAt: envelope.completedAt,
    signers: envelope.signers.map(signerView),
    documentStorageKey: envelope.documentStorageKey,
    signedDocumentStorageKey: envelope.signedDocumentStorageKey,
    certificateStorageKey: envelope.certificateStorageKey,
  });
}

/** The payload's text: these bytes are signed and sent. */
export function payloadText(draft: EventDraft): string {
  return JSON.stringify({ event: draft.event, timestamp: draft.at, data: draft.data });
}
