import * as z from 'zod';
import { UsageError } from '../../../kernel/errors.ts';
import { DOCUMENT_KINDS, EVENTS, type EventName } from '../../../kernel/vocabulary.ts';
import { TAMPERINGS, type Tampering } from '../../model.ts';
import { checked } from '../base/validation.ts';

const chance = {
  /** How often it strikes, of the requests that match: 0 to 1, default 1. */
  rate: z.number().min(0).max(1).optional(),
  /** It strikes at most so many times. */
  times: z.int().min(1).max(1_000_000).optional(),
  /** The first so many that match pass. */
  skip: z.int().min(0).max(1_000_000).optional(),
};
const HOUR_MS = 3_600_000;
const wait = { ms: z.int().min(1).max(HOUR_MS) };
const onRequests = {
  ...chance,
  /** Method, path prefix below the base URL, or both; a closing `$` ends the path: `POST /esign/envelopes$`. */
  match: z
    .string()
    .max(500)
    .regex(/^(?:[A-Z]+|(?:[A-Z]+ )?\/\S*)$/, {
      error: 'Must be a method, a path or both, like POST /esign/envelopes',
    })
    .optional(),
};
const onEvents = { ...chance, match: z.enum(EVENTS).optional() };
/** Whether the work is done before the false answer; default no. */
const done = { done: z.boolean().optional() };

const settingsSchema = z.strictObject({
  /** Start of the dice; the same seed and the same requests give the same faults. Default 1. */
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional(),
  /** The answer comes late; what was asked for is done at once. */
  delay: z.strictObject({ ...onRequests, ...wait }).optional(),
  /** The connection is reset before anything is done. */
  reset: z.strictObject(onRequests).optional(),
  error500: z.strictObject({ ...onRequests, ...done }).optional(),
  /** The HTML page of a proxy in between. */
  html502: z.strictObject({ ...onRequests, ...done }).optional(),
  /** The work is done and the connection closed without an answer. */
  lostReply: z.strictObject(onRequests).optional(),
  /** The work is done; the body ends before its Content-Length. */
  truncate: z.strictObject(onRequests).optional(),
  /** The storage key is set, but its object comes into the bucket so much later, or after so many reads in vain. */
  missingObject: z
    .strictObject({
      ...chance,
      ms: wait.ms.optional(),
      reads: z.int().min(1).max(1_000_000).optional(),
      match: z.enum(DOCUMENT_KINDS).optional(),
    })
    .refine(({ ms, reads }) => ms !== undefined || reads !== undefined, {
      path: ['ms'],
      error: 'Give ms, reads or both; then whichever comes first',
    })
    .optional(),
  /** A sealed document lies in the bucket as somebody else has left it. */
  tamperedPaper: z
    .strictObject({ ...chance, how: z.enum(TAMPERINGS), match: z.enum(DOCUMENT_KINDS).optional() })
    .optional(),
  webhooks: z
    .strictObject({
      /** Never sent, never tried again. */
      drop: z.strictObject(onEvents).optional(),
      /** Sent once more after it was delivered. */
      duplicate: z.strictObject(onEvents).optional(),
      /** Held back while later events of the envelope go ahead; on the sandbox's clock. */
      reorder: z.strictObject({ ...onEvents, ...wait }).optional(),
      /** Held back together with those behind it. */
      delay: z.strictObject({ ...onEvents, ...wait }).optional(),
      /** The signature is another one. */
      badSignature: z.strictObject(onEvents).optional(),
    })
    .optional(),
});

/** What goes wrong, as JSON. */
export type FaultSettings = z.input<typeof settingsSchema>;

/** A false answer to a request; `delay` may come on top. */
export type FalseAnswer = 'reset' | 'error500' | 'html502' | 'lostReply' | 'truncate';
const FALSE_ANSWERS = [
  'reset',
  'error500',
  'html502',
  'lostReply',
  'truncate',
] as const satisfies FalseAnswer[];

export interface RequestPlan {
  delayMs: number;
  answer: FalseAnswer | null;
  /** For error500 and html502. */
  done: boolean;
}

export interface WebhookPlan {
  drop: boolean;
  duplicate: boolean;
  badSignature: boolean;
  delayMs: number;
}

/** So many ms or so many reads in vain, whichever comes first. */
export interface ObjectPlan {
  ms: number | undefined;
  reads: number | undefined;
}

interface Chance {
  rate?: number | undefined;
  times?: number | undefined;
  skip?: number | undefined;
}

/** Faults on demand. Only requests of the API are hit, never the control plane. */
export class Faults {
  readonly #atStart: FaultSettings;
  #settings: FaultSettings = {};
  readonly #dice = new Map<string, Die>();

  /** Throws UsageError naming the setting that is wrong. */
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

  /** Replaces everything that was set before, and starts the dice anew. */
  set(settings: FaultSettings): void {
    this.#settings = settings;
    this.#dice.clear();
  }

  /** Back to what the service was started with. */
  restore(): void {
    this.set(this.#atStart);
  }

  /** What is set, and how often each fault has struck. */
  view(): { settings: FaultSettings; hits: Record<string, number> } {
    const hits = [...this.#dice].map(([name, die]): [string, number] => [name, die.hits]);
    return { settings: this.#settings, hits: Object.fromEntries(hits) };
  }

  /** What happens to a request; `path` is the one below the base URL. */
  forRequest(method: string, path: string): RequestPlan {
    const { delay } = this.#settings;
    const strikes = (name: FalseAnswer | 'delay') => {
      const fault = this.#settings[name];
      return fault !== undefined && matches(fault.match, method, path) && this.#strikes(name, fault);
    };
    const delayMs = delay && strikes('delay') ? delay.ms : 0;
    const answer = FALSE_ANSWERS.find(strikes) ?? null;
    const done = answer === 'error500' || answer === 'html502' ? this.#settings[answer]?.done : undefined;
    return { delayMs, answer, done: done ?? false };
  }

  /** What happens to an attempt at a delivery. */
  forWebhook(event: EventName): WebhookPlan {
    const { delay } = this.#settings.webhooks ?? {};
    const drop = this.#strikesEvent('drop', event);
    return {
      drop,
      duplicate: !drop && this.#strikesEvent('duplicate', event),
      badSignature: !drop && this.#strikesEvent('badSignature', event),
      delayMs: delay && !drop && this.#strikesEvent('delay', event) ? delay.ms : 0,
    };
  }

  /** How long a delivery lets later ones go ahead, in ms; 0 for not at all. */
  holdsBack(event: EventName): number {
    return this.#strikesEvent('reorder', event) ? (this.#settings.webhooks?.reorder?.ms ?? 0) : 0;
  }

  /** What the object of a storage key waits for before it comes into the bucket; null when it comes at once. */
  forObject(key: string): ObjectPlan | null {
    const fault = this.#settings.missingObject;
    if (!fault || (fault.match !== undefined && !key.endsWith(`/${fault.match}.pdf`))) return null;
    return this.#strikes('missingObject', fault) ? { ms: fault.ms, reads: fault.reads } : null;
  }

  /** What was done to a sealed document before it came into the bucket; null for nothing. */
  forDocument(key: string): Tampering | null {
    const fault = this.#settings.tamperedPaper;
    if (!fault || (fault.match !== undefined && !key.endsWith(`/${fault.match}.pdf`))) return null;
    return this.#strikes('tamperedPaper', fault) ? fault.how : null;
  }

  #strikesEvent(name: 'drop' | 'duplicate' | 'reorder' | 'delay' | 'badSignature', event: EventName) {
    const fault = this.#settings.webhooks?.[name];
    if (!fault || (fault.match !== undefined && fault.match !== event)) return false;
    return this.#strikes(`webhooks.${name}`, fault);
  }

  #strikes(name: string, fault: Chance): boolean {
    let die = this.#dice.get(name);
    if (!die) {
      die = new Die(this.#settings.seed ?? 1, name);
      this.#dice.set(name, die);
    }
    return die.strikes(fault);
  }
}

/** Faults from a request body; VALIDATION_ERROR's details when they are not valid. */
export function checkFaults(body: unknown) {
  return checked(settingsSchema, body);
}

function matches(match: string | undefined, method: string, path: string): boolean {
  if (match === undefined) return true;
  const [, wanted, from = ''] = /^([A-Z]+)? ?(\/.*)?$/.exec(match) ?? [];
  if (wanted !== undefined && wanted !== method) return false;
  return from.endsWith('$') ? path === from.slice(0, -1) : path.startsWith(from);
}

/** The dice of one fault: a stream of its own, so that one fault does not change when another strikes. */
class Die {
  hits = 0;
  #seen = 0;
  #state: number;

  constructor(seed: number, name: string) {
    this.#state = seed;
    for (const char of name) this.#state = (Math.imul(this.#state, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  }

  strikes({ rate = 1, times = Number.POSITIVE_INFINITY, skip = 0 }: Chance): boolean {
    this.#seen += 1;
    if (this.#seen <= skip || this.hits >= times || this.#next() >= rate) return false;
    this.hits += 1;
    return true;
  }

  /** mulberry32: small, and the same everywhere. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
