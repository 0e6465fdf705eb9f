import { KeyedQueue } from '../../../kernel/async/keyed-queue.ts';
import type { DeliveryRecord, EnvelopeRecord, TemplateRecord } from '../../model.ts';
import { invalidBody, notFound } from '../base/errors.ts';
import { Alarm, isoTime } from '../base/sandbox-clock.ts';
import type { TimeOrder } from '../base/time-order.ts';
import type { CreateBody } from '../base/validation.ts';
import type { StoreChange } from '../store/records.ts';
import { advanceClock } from './advance.ts';
import { draftEnvelope } from './draft.ts';
import { type Entries, fillFields } from './fields.ts';
import * as lifecycle from './lifecycle.ts';
import { copyOf, outcomeOf } from './outcome.ts';
import * as predicates from './predicates.ts';
import { type EngineParts, replaceState, resetState } from './reset-and-restore.ts';

/** The delay before retrying due changes that could not be stored, in ms. */
const TRY_AGAIN_MS = 5000;
/** The number of due envelopes that are updated at the same time. */
const DUE_BATCH_SIZE = 500;

/**
 * Processes actions of the API, signers, and the clock: each changes the lifecycle, documents, emails, and webhooks in one step.
 */
export class Engine {
  readonly #options: EngineParts;
  readonly #queue = new KeyedQueue();
  readonly #alarm: Alarm;

  constructor(options: EngineParts) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock, () => void this.catchUp().catch(() => undefined));
  }

  get #rules() {
    return this.#options.rules;
  }

  get #state() {
    return this.#options.store.state;
  }

  /** Processes everything that became due while the sandbox was stopped, pending deliveries first. */
  async start(): Promise<void> {
    this.#options.sender.resume();
    await this.catchUp();
  }

  close(): void {
    this.#alarm.close();
  }

  /** Returns an envelope of an organization. Throws NOT_FOUND for another organization's envelope (Authentication 5). */
  envelope(id: string, orgId?: string): EnvelopeRecord {
    const envelope = this.#state.envelopes.get(id);
    if (!envelope || (orgId !== undefined && envelope.orgId !== orgId)) throw notFound('Envelope');
    return envelope;
  }

  /** Creates an envelope, with document.pdf in the bucket before it exists, and sends it if requested. */
  async create(orgId: string, body: CreateBody): Promise<EnvelopeRecord> {
    const template = this.#state.templates.get(body.templateId);
    if (!template) throw notFound('Template');
    if (!template.active) throw invalidBody({ templateId: ['The template is not active'] });
    const now = this.#options.clock.now();
    const draft = draftEnvelope(orgId, template, body, now, this.#options.randomId);
    const release = this.#options.reserveQuota(orgId, now);
    try {
      await this.#options.resets.shared(() => this.#options.documentStore.putDocument(template, draft));
      if (this.#state.templates.get(template.id)?.updatedAt !== template.updatedAt)
        throw notFound('Template');
      return this.#commit(body.sendImmediately ? lifecycle.send(draft, now) : lifecycle.unchanged(draft));
    } catch (error) {
      await this.#options.documentStore.clear(draft).catch(() => undefined);
      throw error;
    } finally {
      release();
    }
  }

  send(id: string, orgId: string): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) => lifecycle.send(envelope, now), orgId);
  }

  cancel(id: string, orgId: string, reason: string | null): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) => lifecycle.cancel(envelope, reason, now), orgId);
  }

  remind(id: string, orgId: string, signerId: string | null): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) => lifecycle.remind(envelope, signerId, now), orgId);
  }

  /** Views an envelope as a signer. `who` is a signer's ID or email address, or null for the next signer; the same applies below. */
  view(id: string, who: string | null): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) =>
      lifecycle.view(envelope, predicates.findSigner(envelope, who), now),
    );
  }

  /** Signs as a signer, after viewing if that has not happened. Fields without an entered value get a plausible one. */
  sign(id: string, who: string | null, entries: Entries): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) => {
      const signerId = predicates.findSigner(envelope, who);
      const seen = predicates.signerOf(envelope, signerId).status === 'VIEWED';
      const first = seen ? lifecycle.unchanged(envelope) : lifecycle.view(envelope, signerId, now);
      return lifecycle.combine(first, (viewed) => {
        const filled = fillFields(
          this.#templateOf(viewed),
          predicates.signerOf(viewed, signerId),
          entries,
          now,
        );
        const signature = { signerId, ...entries, values: filled };
        return lifecycle.sign(viewed, signature, now, this.#rules);
      });
    });
  }

  decline(id: string, who: string | null, reason: string | null): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) =>
      lifecycle.decline(envelope, { signerId: predicates.findSigner(envelope, who), reason }, now),
    );
  }

  /**
   * Completes and expires all envelopes that are due, in order of time. Takes two comparisons if none are. Calls run one after another, so
   * that none returns while an earlier one is still processing envelopes.
   */
  catchUp(): Promise<void> {
    return this.#queue.run('due', async () => {
      const now = this.#options.clock.now();
      const { expiries, finalizations } = this.#state;
      await this.#processDue(finalizations, now, (id) => this.#finalize(id));
      await this.#processDue(expiries, now, (id) => this.#expire(id, now));
      this.#setAlarm();
    });
  }

  /** Moves the sandbox's clock forward (`advanceClock`). Returns the new time in ms. */
  advance(ms: number): Promise<number> {
    const catchUp = async () => {
      await this.catchUp();
      this.#setAlarm(true);
    };
    return this.#queue.run('clock', () => advanceClock(ms, this.#options, catchUp));
  }

  /** Sends a delivery again, as a new delivery with the same bytes. */
  replay(deliveryId: string): DeliveryRecord {
    const earlier = this.#state.deliveries.get(deliveryId);
    if (!earlier) throw notFound('Delivery');
    const value = copyOf(earlier, isoTime(this.#options.clock.now()), this.#options.randomId);
    this.#options.store.commit([{ kind: 'delivery', value }]);
    this.#options.sender.enqueue(value);
    return value;
  }

  /**
   * Resets to the initial state. The templates, the key with that hash, and objects of other clients in the bucket are kept. `refill` loads
   * the initial data.
   */
  reset(keptKeyHash: string, refill: () => Promise<void>): Promise<void> {
    return this.#options.resets.exclusive(async () => {
      await resetState(keptKeyHash, this.#options);
      await refill();
      this.#setAlarm();
    });
  }

  /** Replaces the state with a saved one. Its documents are drawn again when they are requested. */
  replace(changes: readonly StoreChange[]): Promise<void> {
    return this.#options.resets.exclusive(async () => {
      await replaceState(changes, this.#options);
      this.#setAlarm(true);
    });
  }

  #act(
    id: string,
    step: (envelope: EnvelopeRecord, now: number) => lifecycle.LifecycleStep,
    orgId?: string,
  ): Promise<EnvelopeRecord> {
    return this.#queue.run(id, async () => {
      const now = this.#options.clock.now();
      await this.#expire(id, now);
      const before = this.envelope(id, orgId);
      const done = step(before, now);
      if (done.envelope === before) return before;
      // The documents come first, so that they exist once the envelope is COMPLETED.
      await this.#options.resets.shared(async () => {
        if (done.envelope.status === 'COMPLETED')
          await this.#options.documentStore.putSigned(this.#templateOf(before), done.envelope);
      });
      if (this.#state.envelopes.get(id) === before) return this.#commit(done);
      // The sandbox was reset in the meantime, so the new documents belong to no envelope.
      await this.#options.documentStore.clear(done.envelope);
      throw notFound('Envelope');
    });
  }

  /** Processes due envelopes. Failures are reported and retried later, because no request waits for this. */
  async #processDue(queue: TimeOrder, now: number, work: (id: string) => Promise<void>): Promise<void> {
    const one = async (id: string) => {
      try {
        await this.#queue.run(id, () => work(id));
      } catch (error) {
        this.#options.reportFailure(`Updating ${id}`, error);
        queue.add(this.#options.clock.now() + TRY_AGAIN_MS, id);
      }
    };
    for (let due = queue.take(now, DUE_BATCH_SIZE); due.length > 0; due = queue.take(now, DUE_BATCH_SIZE))
      await Promise.all(due.map(one));
  }

  async #finalize(id: string): Promise<void> {
    const envelope = this.#state.envelopes.get(id);
    if (!envelope || !predicates.isFinalizing(envelope)) return;
    const done = lifecycle.finalize(envelope, this.#rules);
    const template = this.#templateOf(envelope);
    await this.#options.resets.shared(() => this.#options.documentStore.putSigned(template, done.envelope));
    if (this.#state.envelopes.get(id) === envelope) this.#commit(done);
    else await this.#options.documentStore.clear(done.envelope);
  }

  #setAlarm(moved = false): void {
    const { expiries, finalizations } = this.#state;
    const next = Math.min(
      expiries.first ?? Number.POSITIVE_INFINITY,
      finalizations.first ?? Number.POSITIVE_INFINITY,
    );
    this.#alarm.set(Number.isFinite(next) ? next : undefined, moved);
  }

  async #expire(id: string, now: number): Promise<void> {
    const isDue = () => {
      const envelope = this.#state.envelopes.get(id);
      return envelope !== undefined && predicates.isDue(envelope, now) ? envelope : undefined;
    };
    if (isDue() === undefined) return;
    await this.#options.resets.shared();
    const envelope = isDue();
    if (envelope) this.#commit(lifecycle.expire(envelope));
  }

  /** Stores a step and sends its webhooks. */
  #commit(step: lifecycle.LifecycleStep): EnvelopeRecord {
    const { store, sender, randomId } = this.#options;
    const facts = { randomId, rules: this.#rules };
    const { changes, deliveries } = outcomeOf(step, facts);
    store.commit(changes);
    this.#setAlarm();
    for (const delivery of deliveries) sender.enqueue(delivery);
    return step.envelope;
  }

  #templateOf(envelope: EnvelopeRecord): TemplateRecord {
    const template = this.#state.templates.get(envelope.templateId);
    if (!template) throw notFound('Template');
    return template;
  }
}
