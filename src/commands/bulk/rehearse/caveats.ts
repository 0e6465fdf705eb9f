import type { BulkRow } from '../../../bulk/rows/row.ts';
import { counted, listed } from '../../../kernel/duration.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import { LIMITS } from '../../../kernel/vocabulary.ts';
import type { SampleBasis } from '../../../statistics/turn-history.ts';

/** All reasons why the real run may differ from its rehearsal. */
export const CAVEATS = [
  'guards',
  'default-times',
  'history-unread',
  'chance',
  'addresses',
  'stand-ins',
  'roles-unknown',
  'rate-assumed',
  'quota-unknown',
  'webhooks',
  'waves',
] as const;
export type CaveatCode = (typeof CAVEATS)[number];

/** A reason why the real run may differ, and what to do about it. */
export interface Caveat {
  code: CaveatCode;
  text: string;
  action: string;
}

export interface CaveatFacts {
  basis: SampleBasis;
  isHistoryRead: boolean;
  /** Templates whose roles the service does not show. */
  withoutRoles: readonly string[];
  hasRate: boolean;
  hasWaves: boolean;
  sendable: readonly BulkRow[];
  guard: string | undefined;
  sentThisMonth: number;
}

/** Returns the caveats that apply to a rehearsal. */
export function caveatsOf(facts: CaveatFacts): Caveat[] {
  return CAVEATS.flatMap((code) => {
    const words = TEXTS[code](facts);
    return words === undefined ? [] : [{ code, text: words[0], action: words[1] }];
  });
}

type Words = readonly [text: string, action: string] | undefined;

const TEXTS: Readonly<Record<CaveatCode, (facts: CaveatFacts) => Words>> = {
  guards: ({ guard }) =>
    guard === undefined
      ? undefined
      : [`A guard would refuse the list. ${guard}`, `See the guards: \`${command('profiles', 'show')}\`.`],
  'default-times': ({ basis, isHistoryRead }) =>
    basis === 'default' && isHistoryRead
      ? [
          'Some signing times are defaults, because this account has fewer than 20 finished turns.',
          'Send a first wave with `--waves 20,rest` and see how long it takes before you send the next one.',
        ]
      : undefined,
  'history-unread': ({ isHistoryRead }) =>
    isHistoryRead
      ? undefined
      : [
          "This key can't list envelopes, so default signing times were used.",
          'Rehearse with a key that can read envelopes.',
        ],
  chance: () => [
    'Which signers are late, decline, or never sign is random. Only the totals are estimates.',
    'Rehearse with a different `--random-seed` to see how much the results vary.',
  ],
  addresses: () => [
    'Only the address format was checked. Bounced emails are not simulated.',
    'Send a first wave, and check the addresses of late signers.',
  ],
  'stand-ins': () => [
    'The pages in the rehearsal are placeholders. Only the fields come from your templates.',
    'Send one envelope to yourself and review the real document.',
  ],
  'roles-unknown': ({ withoutRoles }) =>
    withoutRoles.length === 0
      ? undefined
      : [
          `The service does not return the roles in ${listed(withoutRoles)}. The roles in your file were used, so a wrong role would not be detected.`,
          `Compare them with earlier envelopes: \`${command('templates', 'get', withoutRoles[0] ?? '')}\`.`,
        ],
  'rate-assumed': ({ hasRate }) =>
    hasRate
      ? undefined
      : [
          `The service returned no rate limit, so ${counted(LIMITS.rate.requests, 'request')} per 15 minutes were assumed.`,
          "Ask your provider for your account's limit.",
        ],
  'quota-unknown': ({ sentThisMonth }) => [
    'The service does not return the monthly quota, so the quota is not simulated.',
    `Make sure that your quota allows ${counted(sentThisMonth, 'envelope')} this month.`,
  ],
  webhooks: ({ sendable }) =>
    sendable.some(({ envelope }) => envelope.webhookUrl !== undefined)
      ? ['Webhooks were not called.', 'Test your receiver: `esign events drill`.']
      : undefined,
  waves: ({ hasWaves }) =>
    hasWaves
      ? ['All waves were rehearsed as one run.', 'Add the days between waves to the expected days.']
      : undefined,
};
