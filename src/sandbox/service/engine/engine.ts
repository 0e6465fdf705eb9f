import { KeyedQueue } from '../../../kernel/async/keyed-queue.ts';
import type { DeliveryRecord, EnvelopeRecord, TemplateRecord } from '../../model.ts';
import { invalidBody, notFound, templateNotFound } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { TimeOrder } from '../base/time-order.ts';
import type { CreateBody } from '../base/validation.ts';
import type { StoreChange } from '../store/records.ts';
import { advanceClock } from './advance.ts';
import { draftEnvelope } from './draft.ts';
import { fillFields, type SignerEntries } from './fields.ts';
import * as lifecycle from './lifecycle.ts';
import * as predicates from './predicates.ts';
import { type EngineParts, replaceState, resetState } from './reset-and-restore.ts';
import { copyDelivery, recordsOfStep } from './step-records.ts';

/** How often to look for what is due, in ms. Requests look by themselves. */
const TICK_MS = 100;
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
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EngineParts) {
    this.#options = options;
  }

  get #rules() {
    return this.#options.rules;
  }

  get #state() {
    return this.#options.store.state;
  }

  /** Processes everything that became due while the sandbox was stopped, pending deliveries first, then the rest when it is due. */
  async start(): Promise<void> {
    const { sender } = this.#options;
    sender.resume();
    await this.catchUp();
    this.#timer = setInterval(() => {
      void this.catchUp();
      sender.wake();
    }, TICK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
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
    if (!template) throw templateNotFound();
    if (!template.active) throw invalidBody({ templateId: ['The template is not active'] });
    const now = this.#options.clock.now();
    const draft = draftEnvelope(orgId, template, body, now, this.#options.randomId);
    const release = this.#options.reserveQuota(orgId, now);
    try {
      await this.#options.documentStore.putDocument(template, draft);
      // A reset or a seed has replaced the template in the meantime.
      if (this.#state.templates.get(template.id) !== template) throw templateNotFound();
      return this.#commit(body.sendImmediately ? lifecycle.send(draft, now) : lifecycle.unchangedStep(draft));
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
  sign(id: string, who: string | null, entries: SignerEntries): Promise<EnvelopeRecord> {
    return this.#act(id, (envelope, now) => {
      const signerId = predicates.findSigner(envelope, who);
      const seen = predicates.signerOf(envelope, signerId).status === 'VIEWED';
      const first = seen ? lifecycle.unchangedStep(envelope) : lifecycle.view(envelope, signerId, now);
      return lifecycle.combineSteps(first, (viewed) => {
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
      await this.#processDue(expiries, now, async (id) => this.#expire(id, now));
    });
  }

  /** Moves the sandbox's clock forward (`advanceClock`). Returns the new time in ms. */
  advance(ms: number): Promise<number> {
    return this.#queue.run('clock', () => advanceClock(ms, this.#options, () => this.catchUp()));
  }

  /** Sends a delivery again, as a new delivery with the same bytes. */
  replay(deliveryId: string): DeliveryRecord {
    const earlier = this.#state.deliveries.get(deliveryId);
    if (!earlier) throw notFound('Delivery');
    const value = copyDelivery(earlier, isoTime(this.#options.clock.now()), this.#options.randomId);
    this.#options.store.commit([{ kind: 'delivery', value }]);
    this.#options.sender.enqueue(value);
    return value;
  }

  /** Resets to the initial state. The templates and the key with that hash are kept. */
  reset(keptKeyHash: string): Promise<void> {
    return resetState(keptKeyHash, this.#options);
  }

  /** Replaces the state with a saved one. Its documents are drawn again when they are requested. */
  replace(changes: readonly StoreChange[]): Promise<void> {
    return replaceState(changes, this.#options);
  }

  #act(
    id: string,
    step: (envelope: EnvelopeRecord, now: number) => lifecycle.LifecycleStep,
    orgId?: string,
  ): Promise<EnvelopeRecord> {
    return this.#queue.run(id, async () => {
      const now = this.#options.clock.now();
      this.#expire(id, now);
      const before = this.envelope(id, orgId);
      return this.#store(before, step(before, now));
    });
  }

  /** Stores a step of an envelope. Its documents come first, so that they exist once the envelope is COMPLETED. */
  async #store(before: EnvelopeRecord, done: lifecycle.LifecycleStep): Promise<EnvelopeRecord> {
    if (done.envelope === before) return before;
    const { documentStore } = this.#options;
    if (done.envelope.status === 'COMPLETED')
      await documentStore.putSigned(this.#templateOf(before), done.envelope);
    if (this.#state.envelopes.get(before.id) === before) return this.#commit(done);
    // The sandbox was reset in the meantime, so the new documents belong to no envelope.
    await documentStore.clear(done.envelope);
    throw notFound('Envelope');
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
    if (envelope && predicates.isFinalizing(envelope))
      await this.#store(envelope, lifecycle.finalize(envelope, this.#rules));
  }

  #expire(id: string, now: number): void {
    const envelope = this.#state.envelopes.get(id);
    if (envelope && predicates.isDue(envelope, now)) this.#commit(lifecycle.expire(envelope));
  }

  /** Stores a step and sends its webhooks. */
  #commit(step: lifecycle.LifecycleStep): EnvelopeRecord {
    const { store, sender, randomId } = this.#options;
    const facts = { randomId, rules: this.#rules };
    const { changes, deliveries } = recordsOfStep(step, facts);
    store.commit(changes);
    for (const delivery of deliveries) sender.enqueue(delivery);
    return step.envelope;
  }

  #templateOf(envelope: EnvelopeRecord): TemplateRecord {
    const template = this.#state.templates.get(envelope.templateId);
    if (!template) throw templateNotFound();
    return template;
  }
}
