import * as z from 'zod';
import { HOUR_MS } from '../../../kernel/duration.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { seededRandom } from '../../../kernel/random.ts';
import { DOCUMENT_KINDS, type DocumentKind, EVENTS, type EventName } from '../../../kernel/vocabulary.ts';
import type { SandboxFaults } from '../../embed-options.ts';
import { TAMPERINGS } from '../../model.ts';
import { parse, validate } from '../base/validation.ts';

const chance = {
  rate: z.number().min(0).max(1).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
  skip: z.int().min(0).max(1_000_000).optional(),
};
type FaultChance = z.infer<z.ZodObject<typeof chance>>;
const wait = { ms: z.int().min(1).max(HOUR_MS) };
const onRequests = {
  ...chance,
  match: z
    .string()
    .max(500)
    .regex(/^(?:[A-Z]+|(?:[A-Z]+ )?\/\S*)$/, {
      error: 'Must be a method, a path, or both, such as POST /esign/envelopes',
    })
    .optional(),
};
const onEvents = { ...chance, match: z.enum(EVENTS).optional() };
const onDocuments = { ...chance, match: z.enum(DOCUMENT_KINDS).optional() };
const falseError = z.strictObject({ ...onRequests, done: z.boolean().optional() }).optional();

/** SandboxFaults describes each fault. */
const settingsSchema = z.strictObject({
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
  delay: z.strictObject({ ...onRequests, ...wait }).optional(),
  reset: z.strictObject(onRequests).optional(),
  error500: falseError,
  html502: falseError,
  lostReply: z.strictObject(onRequests).optional(),
  truncate: z.strictObject(onRequests).optional(),
  missingObject: z
    .strictObject({
      ...onDocuments,
      ms: wait.ms.optional(),
      reads: z.int().min(1).max(1_000_000).optional(),
    })
    .refine(({ ms, reads }) => ms !== undefined || reads !== undefined, {
      path: ['ms'],
      error: 'Set ms, reads, or both; whichever comes first applies',
    })
    .optional(),
  tamperedDocument: z.strictObject({ ...onDocuments, how: z.enum(TAMPERINGS) }).optional(),
  webhooks: z
    .strictObject({
      /** Never sent, and not retried. */
      drop: z.strictObject(onEvents).optional(),
      /** Sent again after it was delivered. */
      duplicate: z.strictObject(onEvents).optional(),
      reorder: z.strictObject({ ...onEvents, ...wait }).optional(),
      /** Delayed together with those queued after it. */
      delay: z.strictObject({ ...onEvents, ...wait }).optional(),
      badSignature: z.strictObject(onEvents).optional(),
    })
    .optional(),
}) satisfies z.ZodType<SandboxFaults>;

const FAULT_NAMES = Object.keys(settingsSchema.shape).filter((name) => name !== 'seed');

export type FaultSettings = z.input<typeof settingsSchema>;
type WebhookFaults = NonNullable<FaultSettings['webhooks']>;

const FALSE_RESPONSES = ['reset', 'error500', 'html502', 'lostReply', 'truncate'] as const;
/** A false response to a request; it may also be delayed. */
type FalseResponse = (typeof FALSE_RESPONSES)[number];

export interface RequestPlan {
  delayMs: number;
  answer: FalseResponse | null;
  /** Whether the work is done, for error500 and html502. */
  done: boolean;
}

export interface WebhookPlan {
  drop: boolean;
  duplicate: boolean;
  badSignature: boolean;
  delayMs: number;
}

/** Injected faults. They affect only API requests, never the control plane. */
export class Faults {
  readonly #atStart: FaultSettings;
  #settings: FaultSettings = {};
  readonly #chances = new Map<string, FaultChances>();

  /** Throws a UsageError that names the invalid setting. */
  constructor(wanted: unknown = {}) {
    const result = validate(settingsSchema, wanted);
    if ('details' in result) {
      const [[path, messages] = ['', []]] = Object.entries(result.details);
      throw new UsageError(`The fault ${path} is not valid: ${messages.join('; ')}.`, {
        hint: `The faults are ${FAULT_NAMES.join(', ')}. Example: {"lostReply":{"rate":0.2,"match":"POST /esign/envelopes"}}`,
      });
    }
    this.#atStart = result.data;
    this.set(result.data);
  }

  /** Replaces all settings, and restarts the random numbers. */
  set(settings: FaultSettings): void {
    this.#settings = settings;
    this.#chances.clear();
  }

  restore(): void {
    this.set(this.#atStart);
  }

  view(): { settings: FaultSettings; hits: Record<string, number> } {
    const hits = [...this.#chances].map(([name, chance]): [string, number] => [name, chance.hits]);
    return { settings: this.#settings, hits: Object.fromEntries(hits) };
  }

  /** Returns the faults of a request; `path` is relative to the base URL. */
  forRequest(method: string, path: string): RequestPlan {
    const strikes = (name: FalseResponse | 'delay') => {
      const fault = this.#settings[name];
      return this.#occurs(name, fault, fault?.match === undefined || matches(fault.match, method, path));
    };
    const delayMs = strikes('delay') ? (this.#settings.delay?.ms ?? 0) : 0;
    const answer = FALSE_RESPONSES.find(strikes) ?? null;
    const done = answer === 'error500' || answer === 'html502' ? this.#settings[answer]?.done : undefined;
    return { delayMs, answer, done: done ?? false };
  }

  forWebhook(event: EventName): WebhookPlan {
    const drop = this.#webhookFault('drop', event) !== undefined;
    return {
      drop,
      duplicate: !drop && this.#webhookFault('duplicate', event) !== undefined,
      badSignature: !drop && this.#webhookFault('badSignature', event) !== undefined,
      delayMs: drop ? 0 : (this.#webhookFault('delay', event)?.ms ?? 0),
    };
  }

  /** Returns how long a delivery is delayed while later ones are sent, in ms; 0 for no delay. */
  holdsBack(event: EventName): number {
    return this.#webhookFault('reorder', event)?.ms ?? 0;
  }

  /** Returns the settings of a document's fault if it occurs now. */
  forDocument<Name extends 'missingObject' | 'tamperedDocument'>(
    name: Name,
    kind: DocumentKind,
  ): FaultSettings[Name] {
    const fault = this.#settings[name];
    const isMatch = fault?.match === undefined || fault.match === kind;
    return this.#occurs(name, fault, isMatch) ? fault : undefined;
  }

  #webhookFault<Name extends keyof WebhookFaults>(name: Name, event: EventName): WebhookFaults[Name] {
    const fault = this.#settings.webhooks?.[name];
    const isMatch = fault?.match === undefined || fault.match === event;
    return this.#occurs(`webhooks.${name}`, fault, isMatch) ? fault : undefined;
  }

  /** Returns true if a fault occurs now. Only a match counts. */
  #occurs(name: string, fault: FaultChance | undefined, isMatch: boolean): boolean {
    if (fault === undefined || !isMatch) return false;
    let chance = this.#chances.get(name);
    if (!chance) {
      chance = new FaultChances(this.#settings.seed ?? 1, name);
      this.#chances.set(name, chance);
    }
    return chance.strikes(fault);
  }
}

/** Returns the faults from a request body. Throws VALIDATION_ERROR if they are invalid. */
export function parseFaults(body: unknown): FaultSettings {
  return parse(settingsSchema, body, 'The faults are not valid');
}

function matches(match: string, method: string, path: string): boolean {
  const [, wanted, from = ''] = /^([A-Z]+)? ?(\/.*)?$/.exec(match) ?? [];
  if (wanted !== undefined && wanted !== method) return false;
  return from.endsWith('$') ? path === from.slice(0, -1) : path.startsWith(from);
}

/** The random numbers of a fault. Each fault has a separate sequence, so that faults don't affect each other. */
class FaultChances {
  hits = 0;
  #seen = 0;
  readonly #next: () => number;

  constructor(seed: number, name: string) {
    this.#next = seededRandom(seed, name);
  }

  strikes({ rate = 1, times = Number.POSITIVE_INFINITY, skip = 0 }: FaultChance): boolean {
    this.#seen += 1;
    if (this.#seen <= skip || this.hits >= times || this.#next() >= rate) return false;
    this.hits += 1;
    return true;
  }
}
