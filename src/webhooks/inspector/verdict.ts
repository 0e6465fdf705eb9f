import type { EventRecord } from '../journal/record.ts';

export type State = 'verified' | 'unchecked' | 'refused';

/** Whether a delivery can be believed, why, and what to do about it. */
export interface Verdict {
  state: State;
  why: string;
  advice: string | null;
}

/** What helps against each reason that signature.ts and explain.ts give. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /header is missing/,
    'The service signs when the envelope has a webhook secret. Create it with one, or look who else posts to this address.',
  ],
  [
    /more than one/,
    'A proxy on the way doubled the header or joined two. Pass on the one that the service sent.',
  ],
  [/upper case/, 'Write the hex digits in lower case where the signature is made.'],
  [/hex digits instead of/, 'HMAC-SHA256 has 64 hex digits. Another hash was used, or the header was cut.'],
  [/not lowercase hex/, 'Expected is the hex HMAC-SHA256 of the raw body, alone or after "sha256=".'],
  [
    /secret of another envelope/,
    'Each envelope may have a secret of its own. Sign with the one this envelope was created with.',
  ],
  [
    /blank or line break/,
    'The file that holds the secret on the signing side ends with a line break; strip it there.',
  ],
  [
    /parsed and written anew/,
    'Take the bytes before a JSON parser of a framework or gateway sees them, and send exactly those.',
  ],
  [
    /decoded from base64/,
    'A gateway handed the body over in base64. Sign and send the bytes it stands for, not its text.',
  ],
  [
    /does not match/,
    'Compare the secret here with the one the envelope was created with. `esign events verify BODY --signature HEX` tries one.',
  ],
  [/not JSON/, 'The signature is good, or was not asked for; but the body must be a JSON object in UTF-8.'],
];

/** How a delivery was judged. */
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
      advice: 'The listener was started with --no-verify: anyone who reaches it can make up events.',
    };
  return {
    state: 'verified',
    why: 'the signature is the HMAC-SHA256 of these very bytes, made with a secret that is known here',
    advice: duplicate ? 'It came before: the sender repeats a delivery until it is answered.' : null,
  };
}
