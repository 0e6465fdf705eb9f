import { UsageError } from '../../../kernel/errors.ts';
import { nearest } from '../../../kernel/text/nearest.ts';

/**
 * Points that the API document leaves open, and on which the service's answer changes what a client must do: the behaviors that the sandbox
 * supports, its default first. docs/sandbox.md lists these, and the sandbox's fixed answers to the other open points.
 */
export const CHOICES = {
  /** Items in the envelope list: complete envelopes, or envelopes without signers, message, metadata, webhookUrl, and keys. */
  'list-items': ['full', 'summary'],
  /** The sort order of the envelope list, by createdAt. */
  'list-order': ['desc', 'asc'],
  /** Whether meta.pagination has total and totalPages. */
  'list-total': ['shown', 'missing'],
  /** The response to send, cancel, and remind: 200 with the envelope, 200 with {"data":{"success":true}}, or 204 without a body. */
  'action-reply': ['envelope', 'success', 'empty204'],
  /** The unit of X-RateLimit-Reset, or no X-RateLimit headers at all. */
  'rate-headers': ['seconds', 'milliseconds', 'missing'],
  /** Whether a 429 response has a Retry-After header, in seconds. */
  'retry-after': ['off', 'on'],
  /** Whether templates return their roles, and whether fields return the signer's role. */
  'template-roles': ['shown', 'hidden'],
  /** Whether signer statuses are PENDING and VIEWED, or AWAITING_TURN and DELIVERED instead. */
  'signer-statuses': ['known', 'unknown'],
  /** The structure of an event: {event, timestamp, data}, or {id, type, createdAt, data}. */
  payload: ['event', 'type'],
  /** Whether X-Service-Signature is plain hex or hex prefixed with sha256=. */
  signature: ['bare', 'prefixed'],
  /** Whether the envelope becomes COMPLETED with the last signature, or stays IN_PROGRESS for 5 more seconds on the sandbox clock. */
  finalisation: ['at-once', 'delayed'],
} as const satisfies Record<string, readonly [string, ...string[]]>;

type ChoiceName = keyof typeof CHOICES;
/** The rules of the service: one value for every choice. */
export type ServiceRules = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name][number] };

const LISTED = new Map<string, readonly string[]>(Object.entries(CHOICES));

export const DEFAULT_RULES: ServiceRules = rulesFromChoices();

/** Returns the rules for the wanted choices. @throws UsageError with the invalid choice and the allowed values. */
export function rulesFromChoices(wanted: Record<string, string> = {}): ServiceRules {
  for (const [name, value] of Object.entries(wanted)) {
    const values = LISTED.get(name);
    if (values?.includes(value)) continue;
    const near = nearest(name, LISTED.keys());
    const problem = values
      ? `${name} can't be ${JSON.stringify(value)}: it must be one of ${values.join(', ')}`
      : `Unknown choice ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
    throw new UsageError(`${problem}.`, { hint: `The choices are ${[...LISTED.keys()].join(', ')}.` });
  }
  const rules = Object.fromEntries([...LISTED].map(([name, [first = '']]) => [name, wanted[name] ?? first]));
  if (!areRules(rules)) throw new RangeError('not a choice');
  return rules;
}

function areRules(rules: Record<string, string>): rules is ServiceRules {
  return [...LISTED].every(([name, values]) => values.includes(rules[name] ?? ''));
}
