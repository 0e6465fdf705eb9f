import type { WantedRequest } from '../once/wanted-requests.ts';
import { wordingOf } from '../once/wording.ts';
import type { BulkRow } from './rows/row.ts';

/** Returns a row as a request to look for. */
export function wantedRow({ requestId, identity, envelope, content }: BulkRow): WantedRequest {
  const { templateId, signers } = envelope;
  return {
    requestId,
    identity,
    content,
    templateId,
    signers: signers.map(({ email, role, order }) => ({ email, role, order })),
    wording: wordingOf(envelope),
  };
}
