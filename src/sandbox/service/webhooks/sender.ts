import { setMaxListeners } from 'node:events';
import type { Clock } from '../../../kernel/clock.ts';
import type { DeliveryRecord } from '../../model.ts';
import type { ServiceParts } from '../base/parts.ts';
import { Alarm, isoTime } from '../base/sandbox-clock.ts';
import { TimeOrder } from '../base/time-order.ts';
import type { WebhookPlan } from '../faults/faults.ts';
import type { Store } from '../store/store.ts';
import { postWebhook, signatureOf, type WebhookOutcome } from './post.ts';
import { Receivers } from './receivers.ts';

/** The API document specifies no retry schedule. This is the sandbox's own, on the sandbox's clock. */
const RETRY_AFTER_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/** The recorded outcome of an attempt that a fault dropped. */
const DROPPED: WebhookOutcome = { status: null, error: 'dropped by a fault', ms: 0 };

/**
 * Delivers webhooks at least once. The first attempts for an envelope are made in the order of its events; retries don't delay later
 * events. Every attempt is recorded, and pending deliveries survive a restart.
 */
export class WebhookSender {
  readonly #options: ServiceParts;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #retries = new TimeOrder();
  /** Deliveries that wait for their first attempt, by envelope. The first in each line is in progress. */
  readonly #lines = new Map<string, string[]>();
  readonly #receivers = new Receivers();
  #stop = newStop();

  constructor(options: ServiceParts) {
    this.#options = options;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#alarm = new Alarm(options.clock, () => this.wake());
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
    this.#track(delivery, this.#runLine(delivery.envelopeId, fresh));
  }

  /** The time of the next retry, in ms since the epoch. */
  get nextDue(): number | undefined {
    return this.#retries.first;
  }

  /** Starts the retries that are due. `moved` is true if the clock jumped. */
  wake(moved = false): void {
    for (const id of this.#retries.take(this.#clock.now())) {
      const delivery = this.#store.state.deliveries.get(id);
      if (delivery) this.#track(delivery, this.#attempt(id));
    }
    this.#alarm.set(this.#retries.first, moved);
  }

  /** Resolves when no attempt is in progress. */
  whenIdle(): Promise<void> {
    return this.#receivers.idle();
  }

  /** Discards everything queued and aborts what is in progress. */
  clear(): void {
    this.#stop.abort();
    this.#stop = newStop();
    this.#lines.clear();
    this.#retries.clear();
    this.#alarm.set(undefined);
  }

  /** Aborts attempts in progress. They stay pending for the next start. */
  async close(): Promise<void> {
    this.clear();
    this.#stop.abort();
    this.#alarm.close();
    await this.#receivers.idle();
  }

  #track({ url }: DeliveryRecord, work: Promise<void>): void {
    this.#receivers.track(
      url,
      work.catch(() => undefined),
    );
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
    this.#retryAt(this.#clock.now() + ms, id);
    return true;
  }

  async #attempt(id: string): Promise<void> {
    const { signal } = this.#stop;
    const stopped = () => signal.aborted;
    const url = this.#store.state.deliveries.get(id)?.url;
    if (url === undefined) return;
    await this.#receivers.run(url, async () => {
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
    if (retryAt !== undefined) this.#retryAt(retryAt, delivery.id);
  }

  #retryAt(time: number, id: string): void {
    this.#retries.add(time, id);
    this.#alarm.set(this.#retries.first);
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
