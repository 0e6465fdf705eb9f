interface RefusalText {
  /** Why a delivery is refused. `…` stands for a number or a name. */
  reason: string;
  /** How to fix it. */
  advice: string;
}

const RAW_BYTES =
  'Use the raw bytes, before a framework or gateway parses the JSON, and send them unchanged.';
const PLAIN_HEX = 'The header must be the hex HMAC-SHA256 of the raw body, optionally after "sha256=".';

/** Why a delivery is refused. For the operator, never for the sender. */
const REFUSALS = {
  missing: {
    reason: 'the signature header is missing',
    advice:
      'The service signs deliveries if the envelope has a webhook secret. Create the envelope with a secret, or find out who else sends requests to this address.',
  },
  several: {
    reason: 'there is more than one signature header',
    advice:
      'A proxy duplicated the header, or combined several into one. Forward only the header that the service sent.',
  },
  namedParts: {
    reason: 'the signature has named parts, such as a timestamp; the service sends only hex',
    advice: PLAIN_HEX,
  },
  uppercase: {
    reason: 'the signature is in uppercase; the service sends lowercase hex',
    advice: 'Write the hex digits in lowercase when you sign.',
  },
  wrongLength: {
    reason: 'the signature has … hex digits instead of 64',
    advice: 'HMAC-SHA256 has 64 hex digits. A different hash was used, or the header was truncated.',
  },
  notHex: { reason: 'the signature is not lowercase hex', advice: PLAIN_HEX },
  misreadSecret: {
    reason: 'the signature was made with this secret, but with a space or line break added or missing',
    advice: "The sender's secret file ends with a line break. Remove the line break there.",
  },
  serializedAgain: {
    reason: 'the body was parsed and serialized again in transit; pass on its raw bytes',
    advice: RAW_BYTES,
  },
  compressed: {
    reason: 'the signature does not match: the body is compressed (…), and was probably signed before',
    advice: RAW_BYTES,
  },
  mismatch: {
    reason:
      'the signature does not match: it was made with a different secret, or the body was changed in transit',
    advice:
      'Compare the secret with the one the envelope was created with, and the body with the one that was signed.',
  },
  notJson: {
    reason: 'the body is not a JSON object',
    advice: 'The signature is valid or was not checked, but the body is not a UTF-8 JSON object.',
  },
  compressedBody: {
    reason: 'the body is compressed (…)',
    advice: RAW_BYTES,
  },
  webPage: {
    reason: 'a web page sent it',
    advice:
      'Browsers send the requests of any web page to this machine. The service sends its own from a server.',
  },
} as const satisfies Readonly<Record<string, RefusalText>>;

export type RefusalKind = keyof typeof REFUSALS;

/** Returns the reason as a clause. `value` is the number or name in it. */
export function refusalReason(kind: RefusalKind, value = ''): string {
  return REFUSALS[kind].reason.replace('…', value);
}

/** Returns how to fix what made a delivery invalid, by its reason, because the journal stores nothing else; null for an unknown reason. */
export function fixForReason(reason: string): string | null {
  const isMeant = ({ reason: known }: RefusalText) => {
    const [before = '', after = ''] = known.split('…');
    return known.includes('…') ? reason.startsWith(before) && reason.endsWith(after) : reason === known;
  };
  return Object.values(REFUSALS).find(isMeant)?.advice ?? null;
}
