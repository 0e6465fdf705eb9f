import type { WantedRequest } from '../once/wanted-requests.ts';
import { wordingOf } from '../once/wording.ts';
import type { RunRow } from '../runs/run-row.ts';

/** Returns a row as a request to look for. */
export function wantedRow({ requestId, identity, envelope, content }: RunRow): WantedRequest {
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
