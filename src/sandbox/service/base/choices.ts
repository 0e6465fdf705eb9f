import { closest } from 'fastest-levenshtein';
import { type ErrorDetails, UsageError } from '../../../kernel/errors.ts';

/** A point that the API document leaves open, and on which the service's answer changes what a client must do. */
interface Choice {
  /** The behaviors that the sandbox supports; the first is its default. */
  values: readonly [string, ...string[]];
  decides: string;
}

/** docs/sandbox.md lists these, and the sandbox's fixed answers to the other open points. */
export const CHOICES = {
  'list-items': {
    values: ['full', 'summary'],
    decides:
      'Items in the envelope list: complete envelopes, or envelopes without signers, message, metadata, webhookUrl, and keys.',
  },
  'list-order': { values: ['desc', 'asc'], decides: 'The sort order of the envelope list, by createdAt.' },
  'list-total': {
    values: ['shown', 'missing'],
    decides: 'Whether meta.pagination has total and totalPages.',
  },
  'action-reply': {
    values: ['envelope', 'success', 'empty204'],
    decides:
      'The response to send, cancel, and remind: 200 with the envelope, 200 with {"data":{"success":true}}, or 204 without a body.',
  },
  'rate-headers': {
    values: ['seconds', 'milliseconds', 'missing'],
    decides: 'The unit of X-RateLimit-Reset, or no X-RateLimit headers at all.',
  },
  'retry-after': {
    values: ['off', 'on'],
    decides: 'Whether a 429 response has a Retry-After header, in seconds.',
  },
  'template-roles': {
    values: ['shown', 'hidden'],
    decides: "Whether templates return their roles, and whether fields return the signer's role.",
  },
  'signer-statuses': {
    values: ['known', 'unknown'],
    decides: 'Whether signer statuses are PENDING and VIEWED, or AWAITING_TURN and DELIVERED instead.',
  },
  payload: {
    values: ['event', 'type'],
    decides: 'The structure of an event: {event, timestamp, data}, or {id, type, createdAt, data}.',
  },
  signature: {
    values: ['bare', 'prefixed'],
    decides: 'Whether X-Service-Signature is plain hex or hex prefixed with sha256=.',
  },
  finalisation: {
    values: ['at-once', 'delayed'],
    decides:
      'Whether the envelope becomes COMPLETED with the last signature, or stays IN_PROGRESS for 5 more seconds on the sandbox clock.',
  },
} as const satisfies Record<string, Choice>;

type ChoiceName = keyof typeof CHOICES;
/** The rules of the service: one value for every choice. */
export type Rules = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name]['values'][number] };

const LISTED = new Map<string, Choice>(Object.entries(CHOICES));

export const DEFAULT_RULES: Rules = completed({});

/** Returns the problems with the wanted choices, by name: unknown choices or values, each with a suggestion. */
export function problemsIn(wanted: Record<string, string>): ErrorDetails {
  const problems = Object.entries(wanted).flatMap(([name, value]): [string, string[]][] => {
    const choice = LISTED.get(name);
    if (!choice) {
      const near = closest(name, [...LISTED.keys()]);
      return [[name, [`Unknown choice ${JSON.stringify(name)}; did you mean ${near}?`]]];
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
      throw new UsageError(`${problem}.`, { hint: `The choices are ${[...LISTED.keys()].join(', ')}.` });
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

  restore(): void {
    this.#rules = this.#atStart;
  }

  list() {
    const values = new Map<string, string>(Object.entries(this.#rules));
    return [...LISTED].map(([name, { values: all, decides }]) => ({
      name,
      value: values.get(name) ?? all[0],
      default: all[0],
      values: all,
      decides,
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
