import type { Client } from '../../api/client.ts';
import type { WriteIdentity } from '../../api/write-identity.ts';
import { signersNamed } from '../../catalog/named-signer.ts';
import { isAmbiguous } from '../../kernel/request-failures.ts';
import { type ActionResult, readQuietly, unknownOutcomeError } from './send-or-cancel.ts';

/**
 * Reminds pending signers, or the one with this ID or address. It is never retried: no status shows whether a reminder was
 * sent, so after a lost response, the outcome stays unknown.
 */
export async function remindEnvelope(
  client: Client,
  id: string,
  signer?: string,
  { signal, once }: { signal?: AbortSignal | undefined; once?: WriteIdentity | undefined } = {},
): Promise<ActionResult> {
  const signerId = signer?.includes('@') ? await signerIdOf(client, id, signer, signal) : signer;
  try {
    const envelope = await client.envelopes.remind(id, signerId, signal, once);
    return { envelope: envelope ?? (await readQuietly(client, id, signal)) ?? { id }, by: 'reply' };
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    throw unknownOutcomeError(
      `The reminder for ${id} may or may not have been sent`,
      error,
      'Send another reminder only if a second email is acceptable.',
    );
  }
}

async function signerIdOf(client: Client, id: string, email: string, signal?: AbortSignal): Promise<string> {
  const [signer] = signersNamed(await client.envelopes.get(id, signal), email);
  return signer?.id || email;
}
