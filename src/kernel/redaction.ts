/**
 * The one redactor. Every sink that is not the user's own result (debug traces, errors, journals) passes
 * its text through it. It knows the secrets of this run by value, and the usual shapes of secrets by name.
 */
export interface Redactor {
  /** Remembers a secret, so that it is removed wherever it turns up. Values under 6 characters are ignored. */
  add(secret: string | undefined): void;
  /** The text with each secret replaced by `[redacted]`. */
  redact(text: string): string;
}

const REDACTED = '[redacted]';

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|aws4-hmac-sha256)\s+)[^\r\n"']+/gi, '$1[redacted]'],
  [
    /("(?:webhook_?secret|api_?key|secret_?access_?key|session_?token|password)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
    '$1"[redacted]"',
  ],
  [/([?&](?:X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|token)=)[^&\s"']+/gi, '$1[redacted]'],
  [/(https?:\/\/[^\s/:@]*:)[^\s/?#"]+@/gi, '$1[redacted]@'],
];

/** A secret as it stands, in JSON, in a path and in a query. */
function formsOf(secret: string): string[] {
  const whole = Buffer.from(secret).toString();
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(whole),
    new URLSearchParams([['', whole]]).toString().slice(1),
  ];
}

/** A redactor that starts out knowing the given secrets. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = new Set<string>();
  const redactor: Redactor = {
    add(secret) {
      if (secret !== undefined && secret.length >= 6) known.add(secret);
    },
    redact(text) {
      let result = text;
      // Longest first, so that a secret inside another does not leave the rest of it behind.
      for (const secret of [...known].sort((a, b) => b.length - a.length)) {
        for (const form of formsOf(secret)) result = result.replaceAll(form, REDACTED);
      }
      for (const [shape, replacement] of SHAPES) result = result.replace(shape, replacement);
      return result;
    },
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** How a key is shown: its first 8 characters and an ellipsis (API document, Authentication 7). */
export function maskKey(key: string): string {
  return key.length > 12 ? `${key.slice(0, 8)}…` : '…';
}
