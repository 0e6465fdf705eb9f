import type * as z from 'zod';
import type { SeedResult } from '../../embed-model.ts';
import type { DeliveryRecord, EnvelopeRecord, MailRecord } from '../../model.ts';
import { envelopeView } from '../api/representation.ts';
import { invalidBody, notFound } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import type { bodySchemas } from '../base/validation.ts';
import type { Engine } from '../engine/engine.ts';
import { mailView } from '../engine/mails.ts';
import { nextSigner } from '../engine/predicates.ts';
import { parseFaults } from '../faults/faults.ts';
import type { CheckedSeed } from '../seed/schema.ts';
import { loadSeed } from '../seed/seeder.ts';
import { hashKey } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';

interface ControlPlaneOptions extends ServiceParts {
  engine: Engine;
  /** The key that a reset keeps. */
  apiKey: string;
  /** The seed that the sandbox was started with. */
  seed: CheckedSeed | undefined;
}

interface DeliveryFilter {
  envelopeId?: string | undefined;
  event?: string | undefined;
}

/** How often a waiting request looks again, in ms. */
const POLL_MS = 20;

/** Selects emails. The case of an address is ignored. */
export interface MailFilter {
  to?: string | undefined;
  envelopeId?: string | undefined;
}

/**
 * The actions of signers, the dashboard, and the clock, for the routes of `/__sandbox` and for a process that embeds the sandbox.
 * Everything that is due is processed before each action.
 */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  /** Saved states by name, oldest first. Records never change in place, so a copy of the references is enough. */
  readonly #snapshots = new Map<string, readonly StoreChange[]>();

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
  }

  status() {
    const { store, clock } = this.#options;
    return {
      name: 'esign sandbox',
      version: 'v1',
      now: isoTime(clock.now()),
      orgId: store.state.orgId,
      clockOffsetMs: clock.offsetMs,
    };
  }

  /** Signs as one signer, by default the next one, or, with `all`, as everyone who has not signed yet, in order. */
  async sign(id: string, request: z.output<typeof bodySchemas.controlSign>) {
    const { engine } = this.#options;
    const { signer, values = {}, all } = request;
    engine.envelope(id);
    if (all && (signer !== undefined || Object.keys(values).length > 0))
      throw invalidBody({ all: ["Can't be combined with signer or values"] });
    let envelope = await engine.sign(id, signer ?? null, { values });
    while (all && nextSigner(envelope)) envelope = await engine.sign(id, null, { values: {} });
    return this.#shown(envelope);
  }

  async view(id: string, signer: string | undefined) {
    return this.#shown(await this.#options.engine.view(id, signer ?? null));
  }

  async decline(id: string, signer: string | undefined, reason: string | undefined) {
    return this.#shown(await this.#options.engine.decline(id, signer ?? null, reason ?? null));
  }

  /** Moves the clock forward. Returns the new time. */
  async advance(ms: number): Promise<string> {
    return isoTime(await this.#options.engine.advance(ms));
  }

  /** Loads a seed. Anything with the same ID is replaced. */
  async seed(seed: CheckedSeed): Promise<SeedResult> {
    const result = loadSeed(seed, this.#options);
    await this.#options.engine.catchUp();
    return result;
  }

  /** Resets the sandbox to its initial state, including the seed and faults. */
  async reset(): Promise<void> {
    const { engine, apiKey, rates, faults, seed, counted } = this.#options;
    await engine.reset(hashKey(apiKey));
    counted?.restart();
    if (seed !== undefined) loadSeed(seed, this.#options);
    rates.clear();
    faults.restore();
  }

  /** Saves the current state under a name. Replaces an earlier snapshot with that name. Returns the name. */
  saveSnapshot(name = `snapshot-${this.#options.randomId(5)}`): string {
    this.#snapshots.delete(name);
    this.#snapshots.set(name, [...this.#options.store.state.changes()]);
    return name;
  }

  /** Restores a saved state, including its clock. Faults are kept. Without a name, restores the latest one. */
  async restoreSnapshot(name?: string): Promise<void> {
    const { engine, rates, counted } = this.#options;
    const saved = this.#snapshots.get(name ?? [...this.#snapshots.keys()].at(-1) ?? '');
    if (saved === undefined) throw notFound('Snapshot');
    await engine.replace(saved);
    counted?.restart();
    rates.clear();
  }

  /** Returns every envelope of the sandbox, oldest first. */
  async envelopes() {
    const { engine, store } = this.#options;
    await engine.catchUp();
    const byAge = [...store.state.envelopes.values()].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    return byAge.map((envelope) => this.#shown(envelope));
  }

  async envelope(id: string) {
    await this.#options.engine.catchUp();
    return this.#shown(this.#options.engine.envelope(id));
  }

  /** Returns the faults and how often each occurred, after replacing them if `wanted` is given. */
  faults(wanted?: unknown) {
    const { faults } = this.#options;
    if (wanted !== undefined) faults.set(parseFaults(wanted));
    return faults.view();
  }

  /** Returns webhooks in the order of their creation. With `waitMs`, waits up to that long for one that was attempted. */
  deliveries({ envelopeId, event }: DeliveryFilter, waitMs = 0, signal?: AbortSignal) {
    const isSelected = (one: DeliveryRecord) =>
      (envelopeId === undefined || one.envelopeId === envelopeId) &&
      (event === undefined || one.event === event);
    const find = () => [...this.#options.store.state.deliveries.values()].filter(isSelected);
    const isDone = (found: ReturnType<typeof find>) => found.some(({ attempts }) => attempts.length > 0);
    return this.#waitFor(find, isDone, waitMs, signal);
  }

  /** Returns emails in the order in which they were sent. If none exist, waits up to `waitMs` for one. */
  mails({ to, envelopeId }: MailFilter, waitMs = 0, signal?: AbortSignal) {
    const { store, origin } = this.#options;
    const address = to?.toLowerCase();
    const isSelected = (mail: MailRecord) =>
      (address === undefined || mail.to.toLowerCase() === address) &&
      (envelopeId === undefined || mail.envelopeId === envelopeId);
    const find = () =>
      [...store.state.mails.values()]
        .filter(isSelected)
        .map((mail) => mailView(mail, store.state.envelopes.get(mail.envelopeId), origin()));
    return this.#waitFor(find, (found) => found.length > 0, waitMs, signal);
  }

  /** Returns the result of `find` as soon as `isDone` accepts it or the time is up. Waits in real time. */
  async #waitFor<T>(
    find: () => T,
    isDone: (found: T) => boolean,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { realClock, engine } = this.#options;
    await engine.catchUp();
    const until = realClock.now() + waitMs;
    for (;;) {
      const found = find();
      if (realClock.now() >= until || isDone(found)) return found;
      await realClock.sleep(POLL_MS, signal);
    }
  }

  #shown(envelope: EnvelopeRecord) {
    return envelopeView(envelope, this.#options.rules);
  }
}
