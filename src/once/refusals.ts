import type { Envelope } from '../api/resource-types.ts';
import { requestIdOf } from '../catalog/markers.ts';
import { EarlierUnknownError, RequestIdUsedError, ServiceError } from '../kernel/errors.ts';
import type { FoundEnvelope } from './look.ts';

/** The error for a request ID that was used for another template or other signers. */
export function requestIdUsedError({ request, envelope, usedFor }: FoundEnvelope): RequestIdUsedError {
  const whom = usedFor ? ` (${usedFor})` : '';
  return new RequestIdUsedError(
    `The request ID ${request.requestId} was already used for ${envelope.id}${whom}.`,
    { hint: 'Nothing was sent. Use a different request ID for a different envelope.' },
  );
}

/** The same error, when another machine uses the ID at the same moment. */
export function usedForOtherError(envelope: Envelope): RequestIdUsedError {
  const id = requestIdOf(envelope) ?? '';
  return new RequestIdUsedError(
    `The request ID ${id} is used for ${envelope.id} with another template or other signers at the same moment.`,
    { hint: 'Nothing was sent. Use a different request ID for a different envelope.' },
  );
}

/** The error for a request ID whose envelope nobody can sign anymore, and that is not completed. */
export function envelopeEndedError({ request, envelope }: FoundEnvelope): ServiceError {
  return new ServiceError(
    'INVALID_STATE',
    `The request ID ${request.requestId} belongs to ${envelope.id}, which is ${envelope.status ?? ''}. Nothing was created.`,
    { status: 400, hint: 'To create a new envelope, use a different request ID.' },
  );
}

/** The error for a request ID with an earlier create without an outcome, which the service can't show. */
export function unprovenError(requestId: string): EarlierUnknownError {
  return new EarlierUnknownError(
    `An earlier request with the request ID ${requestId} may have created an envelope. The service shows no request IDs, so esign can't find out, and sent nothing.`,
    { hint: 'Look for it with `esign envelopes list`. If it does not exist, use a different request ID.' },
  );
}

/** The error for a request whose draft somebody canceled before it was sent. It isn't created again. */
export function canceledDraftError(id: string): ServiceError {
  return new ServiceError(
    'INVALID_STATE',
    `The draft ${id} was canceled before it was sent. Nobody was emailed.`,
    { status: 400, hint: 'To send it after all, run the same command again.' },
  );
}
