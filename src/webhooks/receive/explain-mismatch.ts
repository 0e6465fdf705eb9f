import { refusalReason } from './refusal-texts.ts';
import { checkSignature } from './signature.ts';

/** The maximum number of secrets to try. Without an envelope ID, many are possible. */
const MAX_SECRETS = 10;
/** The largest body to explain. Each explanation takes dozens of hashes, and anyone can cause it. */
const MAX_BYTES = 16 * 1024;

/**
 * Explains why a well-formed signature didn't match, if possible. For the operator only, because the explanation would help a forger.
 * @param body the parsed payload
 */
export function explainMismatch(
  payload: Uint8Array,
  body: Record<string, unknown> | null,
  header: string,
  secrets: readonly string[],
): string {
  if (payload.byteLength > MAX_BYTES) return refusalReason('mismatch');
  const likely = secrets.slice(0, MAX_SECRETS);
  const isBy = (bytes: string | Uint8Array, by: readonly string[]) =>
    checkSignature(Buffer.from(bytes), header, by).ok;
  const misread = likely.flatMap((secret) => [`${secret}\n`, secret.trim(), ` ${secret}`]);
  if (isBy(payload, misread)) return refusalReason('misreadSecret');
  if (isBy(Buffer.from(payload).toString().trim(), likely) || (body && isBy(JSON.stringify(body), likely)))
    return refusalReason('serializedAgain');
  return refusalReason('mismatch');
}
