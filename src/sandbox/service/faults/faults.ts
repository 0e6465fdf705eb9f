import * as z from 'zod';
import { UsageError } from '../../../kernel/errors.ts';
import { seededRandom } from '../../../kernel/random.ts';
import { DOCUMENT_KINDS, EVENTS, type EventName } from '../../../kernel/vocabulary.ts';
import { TAMPERINGS, type Tampering } from '../../model.ts';
import { checked, parse } from '../base/validation.ts';

const chance = {
  /** The probability for each match: 0 to 1, default 1. */
  rate: z.number().min(0).max(1).optional(),
  /** The maximum number of times it occurs. */
  times: z.int().min(1).max(1_000_000).optional(),
  /** The number of matches that pass before it occurs. */
  skip: z.int().min(0).max(1_000_000).optional(),
};
type Chance = z.infer<z.ZodObject<typeof chance>>;
const HOUR_MS = 3_600_000;
const wait = { ms: z.int().min(1).max(HOUR_MS) };
const onRequests = {
  ...chance,
  /** The method, the path prefix below the base URL, or both. A trailing `$` matches the end of the path: `POST /esign/envelopes$`. */
  match: z
    .string()
    .max(500)
    .regex(/^(?:[A-Z]+|(?:[A-Z]+ )?\/\S*)$/, {
      error: 'Must be a method, a path, or both, such as POST /esign/envelopes',
    })
    .optional(),
};
const onEvents = { ...chance, match: z.enum(EVENTS).optional() };
/** Whether the work is done before the false response; default false. */
const done = { done: z.boolean().optional() };

const settingsSchema = z.strictObject({
  /** The seed of the random numbers. The same seed and the same requests give the same faults. Default 1. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
  /** The response is delayed; the work is done immediately. */
  delay: z.strictObject({ ...onRequests, ...wait }).optional(),
  /** The connection is reset before anything is done. */
  reset: z.strictObject(onRequests).optional(),
  error500: z.strictObject({ ...onRequests, ...done }).optional(),
  /** The HTML error page of a proxy. */
  html502: z.strictObject({ ...onRequests, ...done }).optional(),
  /** The work is done, and the connection is closed without a response. */
  lostReply: z.strictObject(onRequests).optional(),
  /** The work is done; the body ends before its Content-Length. */
  truncate: z.strictObject(onRequests).optional(),
  /** The storage key is set, but its object appears in the bucket only after a time or a number of failed reads. */
  missingObject: z
    .strictObject({
      ...chance,
      ms: wait.ms.optional(),
      reads: z.int().min(1).max(1_000_000).optional(),
      match: z.enum(DOCUMENT_KINDS).optional(),
    })
    .refine(({ ms, reads }) => ms !== undefined || reads !== undefined, {
      path: ['ms'],
      error: 'Set ms, reads, or both; whichever comes first applies',
    })
    .optional(),
  /** A sealed document in the bucket is tampered with. */
  tamperedPaper: z
    .strictObject({ ...chance, how: z.enum(TAMPERINGS), match: z.enum(DOCUMENT_KINDS).optional() })
    .optional(),
  webhooks: z
    .strictObject({
      /** Never sent, and not retried. */
      drop: z.strictObject(onEvents).optional(),
      /** Sent again after it was delivered. */
      duplicate: z.strictObject(onEvents).optional(),
      /** Delayed, on the sandbox's clock, while later events of the envelope are sent. */
      reorder: z.strictObject({ ...onEvents, ...wait }).optional(),
      /** Delayed together with those queued after it. */
      delay: z.strictObject({ ...onEvents, ...wait }).optional(),
      /** The signature is wrong. */
      badSignature: z.strictObject(onEvents).optional(),
    })
    .optional(),
});

export type FaultSettings = z.input<typeof settingsSchema>;

const FALSE_RESPONSES = ['reset', 'error500', 'html502', 'lostReply', 'truncate'] as const;
/** A false response to a request; it may also be delayed. */
export type FalseResponse = (typeof FALSE_RESPONSES)[number];

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

/** When a delayed object appears: after a time in ms or a number of failed reads, whichever comes first. */
export interface ObjectPlan {
  ms: number | undefined;
  reads: number | undefined;
}

/** Injected faults. They affect only API requests, never the control plane. */
export class Faults {
  readonly #atStart: FaultSettings;
  #settings: FaultSettings = {};
  readonly #chances = new Map<string, FaultChances>();

  /** Throws a UsageError that names the invalid setting. */
  constructor(wanted: unknown = {}) {
    const result = checked(settingsSchema, wanted);
    if ('details' in result) {
      const [[path, messages] = ['', []]] = Object.entries(result.details);
      throw new UsageError(`The fault ${path} is not valid: ${messages.join('; ')}.`, {
        hint: 'A fault looks like {"lostReply":{"rate":0.2,"match":"POST /esign/envelopes"}}.',
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

  /** Restores the initial settings. */
  restore(): void {
    this.set(this.#atStart);
  }

  /** Returns the settings, and how often each fault occurred. */
  view(): { settings: FaultSettings; hits: Record<string, number> } {
    const hits = [...this.#chances].map(([name, chance]): [string, number] => [name, chance.hits]);
    return { settings: this.#settings, hits: Object.fromEntries(hits) };
  }

  /** Returns the faults of a request; `path` is relative to the base URL. */
  forRequest(method: string, path: string): RequestPlan {
    const { delay } = this.#settings;
    const strikes = (name: FalseResponse | 'delay') => {
      const fault = this.#settings[name];
      return fault !== undefined && matches(fault.match, method, path) && this.#occurs(name, fault);
    };
    const delayMs = delay && strikes('delay') ? delay.ms : 0;
    const answer = FALSE_RESPONSES.find(strikes) ?? null;
    const done = answer === 'error500' || answer === 'html502' ? this.#settings[answer]?.done : undefined;
    return { delayMs, answer, done: done ?? false };
  }

  /** Returns the faults of an attempt to deliver a webhook. */
  forWebhook(event: EventName): WebhookPlan {
    const { delay } = this.#settings.webhooks ?? {};
    const drop = this.#occursForEvent('drop', event);
    return {
      drop,
      duplicate: !drop && this.#occursForEvent('duplicate', event),
      badSignature: !drop && this.#occursForEvent('badSignature', event),
      delayMs: delay && !drop && this.#occursForEvent('delay', event) ? delay.ms : 0,
    };
  }

  /** Returns how long a delivery is delayed while later ones are sent, in ms; 0 for no delay. */
  holdsBack(event: EventName): number {
    return this.#occursForEvent('reorder', event) ? (this.#settings.webhooks?.reorder?.ms ?? 0) : 0;
  }

  /** Returns the delay for the object of a storage key; null for no delay. */
  forObject(key: string): ObjectPlan | null {
    const fault = this.#settings.missingObject;
    if (!fault || (fault.match !== undefined && !key.endsWith(`/${fault.match}.pdf`))) return null;
    return this.#occurs('missingObject', fault) ? { ms: fault.ms, reads: fault.reads } : null;
  }

  /** Returns how a sealed document is tampered with; null if it isn't. */
  forDocument(key: string): Tampering | null {
    const fault = this.#settings.tamperedPaper;
    if (!fault || (fault.match !== undefined && !key.endsWith(`/${fault.match}.pdf`))) return null;
    return this.#occurs('tamperedPaper', fault) ? fault.how : null;
  }

  #occursForEvent(name: 'drop' | 'duplicate' | 'reorder' | 'delay' | 'badSignature', event: EventName) {
    const fault = this.#settings.webhooks?.[name];
    if (!fault || (fault.match !== undefined && fault.match !== event)) return false;
    return this.#occurs(`webhooks.${name}`, fault);
  }

  #occurs(name: string, fault: Chance): boolean {
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

function matches(match: string | undefined, method: string, path: string): boolean {
  if (match === undefined) return true;
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

  strikes({ rate = 1, times = Number.POSITIVE_INFINITY, skip = 0 }: Chance): boolean {
    this.#seen += 1;
    if (this.#seen <= skip || this.hits >= times || this.#next() >= rate) return false;
    this.hits += 1;
    return true;
  }
}
