import { isList, isRecord } from './json.ts';

/**
 * Removes secrets from text. All output except the user's own results passes through it: debug traces, errors, journals. It
 * recognizes the secrets of this run by their value, and others by their usual shapes and names.
 */
export interface Redactor {
  /** Adds a secret to remove. Values shorter than 6 characters are ignored. */
  add(secret: string | undefined): void;
  /** Replaces each secret with `[redacted]`. */
  redact(text: string): string;
}

const REDACTED = '[redacted]';

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|aws4-hmac-sha256)\s+)[^\r\n"']+/gi, '$1[redacted]'],
  [
    /("(?:webhook_?secret|api_?key|secret_?access_?key|session_?token|password)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
    '$1"[redacted]"',
  ],
  // Secrets in a URL, even if it is inside another URL or escaped for JSON.
  [
    /((?:[?&]|%3f|%26|\\u0026)(?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|Signature|sig|token)(?:=|%3d|\\u003d))[^&\s"'\\]+/gi,
    '$1[redacted]',
  ],
  [/(https?:\/\/[^\s/:@]*:)[^\s/?#"]+@/gi, '$1[redacted]@'],
];

/** Names of fields whose values are always secret. */
const SECRET_FIELD =
  /^(?:webhook_?secret|api_?key|secret_?access_?key|session_?token|password|(?:proxy-)?authorization)$/i;

const isSecretField = (name: string, value: unknown) => SECRET_FIELD.test(name) && typeof value === 'string';

/** Redacts the strings in a JSON value, and fields whose names denote secrets. */
export function redactValue(
  value: unknown,
  redactor: Pick<Redactor, 'redact'>,
  isSecret: (name: string, value: unknown) => boolean = isSecretField,
): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (isList(value)) return value.map((one) => redactValue(one, redactor, isSecret));
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, one]) => [
    redactor.redact(name),
    isSecret(name, one) ? REDACTED : redactValue(one, redactor, isSecret),
  ]);
  return Object.fromEntries(fields);
}

/** Secrets with a common prefix, such as generated ones. Searching for thousands takes no longer than for one. */
interface Alike {
  forms: Set<string>;
  /** The lengths of the secrets, longest first. */
  lengths: number[];
}
const BEGINNING = 6;

/** Returns a secret unchanged, and as it appears in JSON, in a path, and in a query. */
function formsOf(secret: string): string[] {
  const whole = Buffer.from(secret).toString();
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(whole),
    new URLSearchParams([['', whole]]).toString().slice(1),
  ];
}

/**
 * Creates a redactor with the given secrets.
 *
 * ```ts
 * const redactor = createRedactor(['s3cr3t']);
 * console.log(redactor.redact('key s3cr3t'));
 * ```
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = new Map<string, Alike>();
  const redactor: Redactor = {
    add(secret) {
      if (secret === undefined || secret.length < BEGINNING) return;
      for (const form of formsOf(secret)) remember(known, form);
    },
    redact(text) {
      let result = withoutKnown(text, known);
      for (const [shape, replacement] of SHAPES) result = result.replace(shape, replacement);
      return result;
    },
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

function remember(known: Map<string, Alike>, form: string): void {
  const beginning = form.slice(0, BEGINNING);
  const alike = known.get(beginning) ?? { forms: new Set(), lengths: [] };
  known.set(beginning, alike);
  alike.forms.add(form);
  if (!alike.lengths.includes(form.length))
    alike.lengths = [...alike.lengths, form.length].sort((a, b) => b - a);
}

function withoutKnown(text: string, known: ReadonlyMap<string, Alike>): string {
  const found: { start: number; end: number }[] = [];
  for (const [beginning, { forms, lengths }] of known)
    for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
      const length = lengths.find((one) => forms.has(text.slice(at, at + one)));
      if (length !== undefined) found.push({ start: at, end: at + length });
    }
  if (found.length === 0) return text;
  let result = '';
  let end = 0;
  for (const span of found.sort((a, b) => a.start - b.start)) {
    // Overlapping secrets are replaced together.
    if (span.start >= end) result += `${text.slice(end, span.start)}${REDACTED}`;
    end = Math.max(end, span.end);
  }
  return result + text.slice(end);
}

/** Masks a key: shows its first 8 characters and an ellipsis (API document, Authentication 7). */
export function maskKey(key: string): string {
  return key.length > 12 ? `${key.slice(0, 8)}…` : '…';
}
