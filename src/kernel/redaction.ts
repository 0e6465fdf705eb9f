import { isList, isRecord } from './json.ts';

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
  // In a link, also in one that stands inside another or was escaped for JSON.
  [
    /((?:[?&]|%3f|%26|\\u0026)(?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|Signature|sig|token)(?:=|%3d|\\u003d))[^&\s"'\\]+/gi,
    '$1[redacted]',
  ],
  [/(https?:\/\/[^\s/:@]*:)[^\s/?#"]+@/gi, '$1[redacted]@'],
];

/** Fields that hold a secret, whatever it looks like. */
const SECRET_FIELD =
  /^(?:webhook_?secret|api_?key|secret_?access_?key|session_?token|password|(?:proxy-)?authorization)$/i;

/** The same for a value out of JSON: its texts, and fields that are named like secrets. All else stays as it is. */
export function redactValue(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (isList(value)) return value.map((one) => redactValue(one, redactor));
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, one]) => {
    const isSecret = SECRET_FIELD.test(name) && typeof one === 'string';
    return [redactor.redact(name), isSecret ? REDACTED : redactValue(one, redactor)];
  });
  return Object.fromEntries(fields);
}

/** Secrets that begin alike, such as all those that are made here: thousands cost no more than one. */
interface Alike {
  forms: Set<string>;
  /** The longest first. */
  lengths: number[];
}
const BEGINNING = 6;

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

/**
 * A redactor that starts out knowing the given secrets.
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
    // One that lies over another leaves nothing of either behind.
    if (span.start >= end) result += `${text.slice(end, span.start)}${REDACTED}`;
    end = Math.max(end, span.end);
  }
  return result + text.slice(end);
}

/** How a key is shown: its first 8 characters and an ellipsis (API document, Authentication 7). */
export function maskKey(key: string): string {
  return key.length > 12 ? `${key.slice(0, 8)}…` : '…';
}
