import { setMaxListeners } from 'node:events';
import { Limiter } from '../../../kernel/async/limiter.ts';
import type { DeliveryRecord } from '../../model.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import { TimeOrder } from '../base/time-order.ts';
import type { WebhookPlan } from '../faults/faults.ts';
import { postWebhook, signatureOf, type WebhookOutcome } from './post.ts';

/** The API document specifies no retry schedule. This is the sandbox's own, on the sandbox's clock. */
const RETRY_AFTER_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/** The maximum number of simultaneous requests to one receiver. */
const CONCURRENCY = 8;
/** The recorded outcome of an attempt that a fault dropped. */
const DROPPED: WebhookOutcome = { status: null, error: 'dropped by a fault', ms: 0 };

/**
 * Delivers webhooks at least once. The first attempts for an envelope are made in the order of its events; retries don't delay later
 * events. Every attempt is recorded, and pending deliveries survive a restart.
 */
export class WebhookSender {
  readonly #options: ServiceParts;
  readonly #store: ServiceParts['store'];
  readonly #clock: ServiceParts['clock'];
  readonly #retries = new TimeOrder();
  /** Deliveries that wait for their first attempt, by envelope. The first in each line is in progress. */
  readonly #lines = new Map<string, string[]>();
  /** By the origin of a receiver, so that a hanging one doesn't delay others. */
  readonly #limiters = new Map<string, Limiter>();
  readonly #unfinished = new Set<Promise<void>>();
  #stop = newStop();

  constructor(options: ServiceParts) {
    this.#options = options;
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** Resumes deliveries that an earlier run left pending. */
  resume(): void {
    for (const delivery of this.#store.state.deliveries.values()) {
      if (delivery.state !== 'pending') continue;
      if (delivery.attempts.length === 0) this.enqueue(delivery);
      else this.#retries.add(Date.parse(delivery.nextAttemptAt ?? delivery.createdAt), delivery.id);
    }
    this.wake();
  }

  /** Queues the first attempt of a stored delivery, after earlier ones of its envelope. */
  enqueue(delivery: DeliveryRecord): void {
    const line = this.#lines.get(delivery.envelopeId);
    if (line) {
      line.push(delivery.id);
      return;
    }
    const fresh = [delivery.id];
    this.#lines.set(delivery.envelopeId, fresh);
    this.#track(this.#runLine(delivery.envelopeId, fresh));
  }

  /** The time of the next retry, in ms since the epoch. */
  get nextDue(): number | undefined {
    return this.#retries.first;
  }

  /** Starts the retries that are due. */
  wake(): void {
    for (const id of this.#retries.take(this.#clock.now())) this.#track(this.#attempt(id));
  }

  /** Resolves when no attempt is in progress. */
  async whenIdle(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
  }

  /** Discards everything queued and aborts what is in progress. */
  clear(): void {
    this.#stop.abort();
    this.#stop = newStop();
    this.#lines.clear();
    this.#retries.clear();
  }

  /** Aborts attempts in progress. They stay pending for the next start. */
  async close(): Promise<void> {
    this.clear();
    this.#stop.abort();
    await this.whenIdle();
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(() => undefined).finally(() => this.#unfinished.delete(tracked));
    this.#unfinished.add(tracked);
  }

  #limiterOf(url: string): Limiter {
    const { origin } = new URL(url);
    const limiter = this.#limiters.get(origin) ?? new Limiter(CONCURRENCY);
    this.#limiters.set(origin, limiter);
    return limiter;
  }

  async #runLine(envelopeId: string, line: string[]): Promise<void> {
    for (let id = line[0]; id !== undefined; id = line[0]) {
      if (!this.#heldBack(id)) await this.#attempt(id);
      line.shift();
    }
    if (this.#lines.get(envelopeId) === line) this.#lines.delete(envelopeId);
  }

  /** Schedules a delivery as a retry before its first attempt if a fault reorders it after later ones. Returns true if so. */
  #heldBack(id: string): boolean {
    const delivery = this.#store.state.deliveries.get(id);
    const ms = delivery ? this.#options.faults.holdsBack(delivery.event) : 0;
    if (ms === 0) return false;
    this.#retries.add(this.#clock.now() + ms, id);
    return true;
  }

  async #attempt(id: string): Promise<void> {
    const { signal } = this.#stop;
    const stopped = () => signal.aborted;
    const url = this.#store.state.deliveries.get(id)?.url;
    if (url === undefined) return;
    await this.#limiterOf(url).run(async () => {
      const delivery = this.#store.state.deliveries.get(id);
      if (stopped() || delivery?.state !== 'pending') return;
      const plan = this.#options.faults.forWebhook(delivery.event);
      if (plan.delayMs > 0) await this.#options.realClock.sleep(plan.delayMs, signal).catch(() => undefined);
      if (!stopped()) await this.#send(delivery, plan, signal);
    });
  }

  async #send(delivery: DeliveryRecord, plan: WebhookPlan, signal: AbortSignal): Promise<void> {
    const attempts = [...delivery.attempts];
    const { url, body } = delivery;
    const signature = this.#signatureFor(delivery, plan);
    const post = async () => {
      const at = isoTime(this.#clock.now());
      const outcome = plan.drop ? DROPPED : await postWebhook({ url, body, signature, signal });
      attempts.push({ at, ...outcome });
      return isSuccess(outcome);
    };
    const delivered = await post();
    if (delivered && plan.duplicate) await post();
    if (!signal.aborted) this.#record({ ...delivery, attempts }, delivered, !plan.drop);
  }

  #signatureFor({ body, envelopeId }: DeliveryRecord, { badSignature }: WebhookPlan): string | null {
    const secret = this.#store.state.envelopes.get(envelopeId)?.webhookSecret ?? null;
    if (secret === null) return null;
    const hex = signatureOf(body, badSignature ? `not ${secret}` : secret);
    return this.#options.rules.signature === 'bare' ? hex : `sha256=${hex}`;
  }

  #record(delivery: DeliveryRecord, delivered: boolean, mayRetry: boolean): void {
    const delay = delivered || !mayRetry ? undefined : RETRY_AFTER_MS[delivery.attempts.length - 1];
    const retryAt = delay === undefined ? undefined : this.#clock.now() + delay;
    const value: DeliveryRecord = {
      ...delivery,
      state: delivered ? 'delivered' : retryAt === undefined ? 'failed' : 'pending',
      nextAttemptAt: retryAt === undefined ? null : isoTime(retryAt),
    };
    this.#store.commit([{ kind: 'delivery', value }]);
    if (retryAt !== undefined) this.#retries.add(retryAt, delivery.id);
  }
}

/** Creates an abort controller without a listener limit, because each pending request listens to it. */
function newStop(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}

function isSuccess({ status }: WebhookOutcome): boolean {
  return status !== null && status >= 200 && status < 300;
}
