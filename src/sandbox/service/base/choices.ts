import { closest } from 'fastest-levenshtein';
import type { ErrorDetails } from '../../../kernel/errors.ts';
import { UsageError } from '../../../kernel/errors.ts';

interface Choice {
  /** The allowed values; the first is the default. A single value documents the sandbox's behavior, which can't be changed. */
  values: readonly [string, ...string[]];
  decides: string;
  why: string;
}

/** Every point that the API document leaves unspecified or ambiguous, and how the sandbox handles it. */
export const CHOICES = {
  'list-items': {
    values: ['full', 'summary'],
    decides:
      'Items of the envelope list: whole envelopes, or without signers, message, metadata, webhookUrl and keys.',
    why: 'The item shape of the list is not shown; the whole envelope is the simplest reading.',
  },
  'list-order': {
    values: ['desc', 'asc'],
    decides: 'Order of the envelope list by createdAt.',
    why: 'No order is shown; newest first is common.',
  },
  'action-reply': {
    values: ['envelope', 'success', 'empty204'],
    decides:
      'Reply of send, cancel and remind: 200 with the envelope, 200 with {"data":{"success":true}}, or 204 without a body.',
    why: 'Their response body is not shown; the envelope is what GET gives.',
  },
  'bad-paging': {
    values: ['error', 'clamp'],
    decides:
      'A page, pageSize or status that is not allowed: VALIDATION_ERROR, or the nearest allowed number and, for a status, an empty list.',
    why: 'Not shown; an error is loud.',
  },
  'malformed-body': {
    values: ['validation-error'],
    decides: 'A body that is not JSON, too large or of another content type: VALIDATION_ERROR (400, 413).',
    why: 'The only code for a bad request that fits.',
  },
  'unknown-fields': {
    values: ['validation-error'],
    decides: 'A field the create, cancel or remind body does not have: VALIDATION_ERROR naming it.',
    why: 'Not shown; a misspelled field must be reported.',
  },
  'unknown-route': {
    values: ['not-found'],
    decides: 'An unknown path is 404 NOT_FOUND; a known path with another method 405 in the same shape.',
    why: 'Not shown; NOT_FOUND is the only code that fits.',
  },
  'check-order': {
    values: ['key-rate-permission-id-body-state-quota'],
    decides:
      'What is reported first: 401, 429, 403, 404 of the path, 400 of the body, 404 and roles of the template, INVALID_STATE or QUOTA_EXCEEDED.',
    why: 'Not shown; the cheapest check comes first.',
  },
  'head-requests': {
    values: ['like-get'],
    decides: 'HEAD answers like GET without a body.',
    why: 'HEAD is not listed; this is what HTTP says.',
  },
  'rate-window': {
    values: ['fixed'],
    decides:
      'A window per key opened by its first request, from the whole second on; every reply to a good key has the three headers.',
    why: 'Only "per 15 minutes" is shown.',
  },
  'retry-after': {
    values: ['off', 'on'],
    decides: 'Whether a 429 also carries Retry-After in seconds.',
    why: 'The header is not in the document.',
  },
  'reset-header': {
    values: ['seconds', 'milliseconds'],
    decides: 'Unit of X-RateLimit-Reset.',
    why: '"Unix timestamp" usually means seconds.',
  },
  byob: {
    values: ['on', 'off'],
    decides:
      "Whether the organization's storage is configured; off refuses every API call with 403 FORBIDDEN.",
    why: 'Storage must be configured before the API is used; what happens otherwise is not shown.',
  },
  'template-roles': {
    values: ['shown', 'hidden'],
    decides: "Whether templates also carry roles and their fields the signer's role.",
    why: 'Signers must match a role of the template, yet no documented field names the roles; extra fields must not disturb a client.',
  },
  'free-role': {
    values: ['next'],
    decides:
      "A signer without a role takes the template's next role that nobody has, then its last; a role may be held twice.",
    why: 'role is optional; nothing says what its absence means.',
  },
  'signer-statuses': {
    values: ['known', 'unknown'],
    decides:
      'Words for signers: PENDING, SENT, VIEWED, SIGNED, DECLINED; or AWAITING_TURN for PENDING and DELIVERED for VIEWED.',
    why: 'Only SENT is shown; clients must bear words they do not know.',
  },
  'sequential-order': {
    values: ['lowest-first'],
    decides:
      'SEQUENTIAL asks the lowest order first, equal orders together; a missing order is the place in the list.',
    why: 'Only "signing order" is shown.',
  },
  'default-signing-order': {
    values: ['parallel', 'sequential'],
    decides: 'signingOrder of a creation that leaves it out.',
    why: 'The field is optional and no default is shown.',
  },
  viewed: {
    values: ['once', 'every'],
    decides: "envelope.viewed at a signer's first look, or at every look. The envelope keeps its status.",
    why: 'The effect of viewing is not shown; services differ.',
  },
  'last-signed': {
    values: ['in-progress', 'completed'],
    decides: 'The status in the payload of the last envelope.signed.',
    why: 'The payload shows IN_PROGRESS; envelope.completed follows.',
  },
  'single-signer': {
    values: ['sent-to-completed'],
    decides: 'A single signature goes from SENT to COMPLETED, with envelope.signed and envelope.completed.',
    why: 'IN_PROGRESS is documented for "other signers still pending".',
  },
  decline: {
    values: ['ends-envelope'],
    decides: "One signer's decline makes the envelope DECLINED immediately; the others keep their status.",
    why: 'The move into DECLINED is not shown.',
  },
  cancel: {
    values: ['literal', 'strict'],
    decides: 'Whether DRAFT and DECLINED can be cancelled (literal), or only SENT and IN_PROGRESS (strict).',
    why: 'The condition names COMPLETED, CANCELLED and EXPIRED alone, yet speaks of an active envelope.',
  },
  remind: {
    values: ['active-only'],
    decides:
      'Only an active envelope; only signers whose turn it is; an unknown signer is NOT_FOUND, one who has signed INVALID_STATE.',
    why: 'Only "pending signers" is shown.',
  },
  'reminder-gap': {
    values: ['none', '1h', '24h'],
    decides: 'How soon after a reminder a signer can be reminded again; sooner is INVALID_STATE.',
    why: 'Not shown; some services refuse it.',
  },
  'expiry-from': {
    values: ['creation', 'sending'],
    decides: 'What expiresInDays counts from.',
    why: 'expiresAt is there from creation on, but its start is not shown.',
  },
  'draft-expiry': {
    values: ['never'],
    decides: 'A draft does not expire; if it is sent after its expiresAt, it expires immediately.',
    why: 'Only an active envelope expires.',
  },
  'longest-expiry': {
    values: ['365-days'],
    decides: 'Largest expiresInDays.',
    why: 'The maximum is not shown.',
  },
  'quota-counts': {
    values: ['envelopes', 'signers'],
    decides:
      'What the monthly quota counts, at creation, by calendar month in UTC. Its size is given at start.',
    why: 'A monthly envelope limit is documented; some services count the signers.',
  },
  payload: {
    values: ['event', 'type'],
    decides: 'Frame of an event: {event, timestamp, data}, or {id, type, createdAt, data}.',
    why: 'The first is documented for envelope.signed; the second is also met in the field.',
  },
  'event-data': {
    values: ['by-event'],
    decides:
      'data of the undocumented events: envelopeId and status, with signer (viewed, declined), reason (cancelled), or completedAt, signers and keys (completed).',
    why: 'Only the payload of envelope.signed is shown.',
  },
  signature: {
    values: ['bare', 'prefixed'],
    decides: 'X-Service-Signature as bare hex, or as sha256= and hex.',
    why: 'Bare hex is documented; the prefix is met in the field.',
  },
  delivery: {
    values: ['at-least-once'],
    decides:
      'POST, 2xx within 30 s is success, no redirects; retries after 10 s, 1 min, 5 min, 30 min and 2 h of the sandbox clock.',
    why: 'Retries, timeouts, and expected response codes are not shown.',
  },
  finalisation: {
    values: ['at-once', 'delayed'],
    decides:
      'COMPLETED with the last signature, or 5 s of the sandbox clock later, IN_PROGRESS until then. The documents come first.',
    why: 'How long completing takes is not shown.',
  },
} as const satisfies Record<string, Choice>;

export type ChoiceName = keyof typeof CHOICES;
/** The rules of the service: one value for every choice. */
export type Rules = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name]['values'][number] };

/** A choice as shown in lists. */
export interface ChoiceView {
  name: string;
  value: string;
  default: string;
  values: readonly string[];
  decides: string;
  why: string;
}

const LISTED = new Map<string, Choice>(Object.entries(CHOICES));

/** The rules if nothing is chosen. */
export const DEFAULT_RULES: Rules = completed({});

/** Returns the problems with the wanted choices, by name: unknown choices or values, each with a suggestion. */
export function problemsIn(wanted: Record<string, string>): ErrorDetails {
  const problems = Object.entries(wanted).flatMap(([name, value]): [string, string[]][] => {
    const choice = LISTED.get(name);
    if (!choice) {
      const near = closest(name, [...LISTED.keys()]);
      return [[name, [`Unknown choice ${JSON.stringify(name)}; the closest is ${near}`]]];
    }
    if (choice.values.includes(value)) return [];
    return [
      [name, [`${name} can't be ${JSON.stringify(value)}: it must be one of ${choice.values.join(', ')}`]],
    ];
  });
  return Object.fromEntries(problems);
}

/** The current choices. Initially those that the sandbox was started with. */
export class Choices {
  readonly #atStart: Rules;
  #rules: Rules;

  /** Throws a UsageError with the invalid choice and the allowed values. */
  constructor(wanted: Record<string, string> = {}) {
    const [problem] = Object.values(problemsIn(wanted)).flat();
    if (problem !== undefined)
      throw new UsageError(`${problem}.`, { hint: 'List them all with `esign sandbox choices`.' });
    this.#atStart = completed(wanted);
    this.#rules = this.#atStart;
  }

  get rules(): Rules {
    return this.#rules;
  }

  /** Changes the given choices; `wanted` must be valid. */
  set(wanted: Record<string, string>): void {
    this.#rules = completed({ ...this.#rules, ...wanted });
  }

  /** Restores the initial choices. */
  restore(): void {
    this.#rules = this.#atStart;
  }

  list(): ChoiceView[] {
    const values = new Map<string, string>(Object.entries(this.#rules));
    return [...LISTED].map(([name, choice]) => ({
      name,
      value: values.get(name) ?? choice.values[0],
      default: choice.values[0],
      ...choice,
    }));
  }
}

function completed(wanted: Record<string, string>): Rules {
  const rules = Object.fromEntries(
    [...LISTED].map(([name, { values }]) => [name, wanted[name] ?? values[0]]),
  );
  if (!areRules(rules)) throw new RangeError('not a choice');
  return rules;
}

function areRules(rules: Record<string, string>): rules is Rules {
  return [...LISTED].every(([name, { values }]) => values.includes(rules[name] ?? ''));
}
