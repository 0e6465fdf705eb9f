import { isRecord, tryParseJson } from '../../kernel/json.ts';
import { jsonExtent } from '../../kernel/text/json-text.ts';
import { MISMATCH, sign } from './signature.ts';

/** The maximum number of secrets for which the forms are computed. Without an envelope ID, many are tried. */
const MAX_SECRETS = 10;
/** The largest body for which an explanation is computed. Each one takes many hashes, and anyone can trigger it. */
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
/** The maximum total indentation. It keeps each form under a few hundred KiB. */
const MAX_INDENTS = 64 * 1024;

/**
 * Explains why a well-formed signature didn't match, if possible. For the operator only, because the explanation would help a
 * forger. The amount of work is limited for any payload.
 */
export function explainMismatch(
  payload: Uint8Array,
  header: string,
  known: { secrets: readonly string[]; others: readonly string[] },
): string {
  if (payload.byteLength > MAX_BYTES) return MISMATCH;
  const given = header.trim().replace(/^sha256=/, '');
  const isBy = (secrets: readonly string[], bytes: Uint8Array) =>
    secrets.some((secret) => sign(bytes, secret) === given);
  if (isBy(known.others, payload)) return "the signature was made with a different envelope's secret";
  const likely = known.secrets.slice(0, MAX_SECRETS);
  const trimmed = likely.flatMap((secret) => [`${secret}\n`, secret.trim(), ` ${secret}`]);
  if (isBy(trimmed, payload))
    return 'the signature was made with this secret, but with a space or line break added or missing';
  for (const form of reserialized(payload)) {
    if (isBy(likely, Buffer.from(form)))
      return 'the body was parsed and serialized again in transit; pass on its raw bytes';
  }
  if (isBy(likely, Buffer.from(Buffer.from(payload).toString('base64'))))
    return 'the body was decoded from base64 in transit';
  return MISMATCH;
}

/** Returns the forms in which frameworks serialize JSON: compact, indented, with spaces, and with a line break. */
function reserialized(payload: Uint8Array): string[] {
  const text = Buffer.from(payload).toString('utf8');
  const { depth, indents } = jsonExtent(text);
  if (depth > MAX_DEPTH || indents > MAX_INDENTS) return [];
  const value = tryParseJson(text);
  if (!isRecord(value)) return [];
  const compact = JSON.stringify(value);
  const spaced = JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([{[]) | ([}\]])/g, '$1$2');
  return [
    compact,
    `${compact}\n`,
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
    spaced,
    text.trim(),
  ];
}
