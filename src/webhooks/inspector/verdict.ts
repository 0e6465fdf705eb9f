import type { EventRecord } from '../journal/record.ts';

export type DeliveryState = 'verified' | 'unchecked' | 'refused';

/** Whether a delivery is valid, why, and how to fix it. */
export interface Verdict {
  state: DeliveryState;
  why: string;
  advice: string | null;
}

/** The fix for each reason given by signature.ts and explain.ts. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /header is missing/,
    'The service signs deliveries if the envelope has a webhook secret. Create it with one, or find out who else posts to this address.',
  ],
  [
    /more than one/,
    'A proxy duplicated the header or joined two. Forward only the one that the service sent.',
  ],
  [/upper ?case/, 'Write the hex digits in lowercase when you sign.'],
  [
    /hex digits instead of/,
    'HMAC-SHA256 has 64 hex digits. A different hash was used, or the header was truncated.',
  ],
  [
    /not lowercase hex/,
    'The header must be the hex HMAC-SHA256 of the raw body, optionally after "sha256=".',
  ],
  [
    /secret of another envelope/,
    'Each envelope can have its own secret. Sign with the one this envelope was created with.',
  ],
  [/line break/, 'The file with the secret on the signing side ends with a line break. Remove it there.'],
  [/parsed and /, 'Take the bytes before a framework or gateway parses the JSON, and send exactly those.'],
  [/decoded from base64/, 'A gateway passed the body in base64. Sign and send the decoded bytes.'],
  [
    /does not match/,
    'Compare the secret with the one the envelope was created with. Test it with `esign events verify BODY --signature HEX`.',
  ],
  [/not JSON/, 'The signature is valid or was not checked, but the body must be a JSON object in UTF-8.'],
];

/** Returns whether a delivery is valid, and why. */
export function verdictOf({ verified, reason, duplicate }: EventRecord): Verdict {
  if (reason !== null)
    return {
      state: 'refused',
      why: reason,
      advice: ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? null,
    };
  if (!verified)
    return {
      state: 'unchecked',
      why: 'signatures are not checked',
      advice: 'The listener was started with --no-verify: anyone who can reach it can send made-up events.',
    };
  return {
    state: 'verified',
    why: 'the signature is the HMAC-SHA256 of these bytes with a known secret',
    advice: duplicate ? 'It was received before: the sender repeats a delivery until it gets a 200.' : null,
  };
}
