import { aborted, type Clock } from '../../../kernel/clock.ts';
import type { DocumentMaker, ObjectWriter } from '../../model.ts';
import type { Faults, ObjectPlan } from './faults.ts';

interface DelayedObject {
  body: Uint8Array;
  /** The number of further reads that find nothing. */
  reads: number;
  /** Aborting it puts the object into the bucket immediately. */
  come: AbortController;
  /** Resolves when the object is in the bucket. */
  arrival: Promise<void>;
}

interface FaultFacts {
  faults: Faults;
  documents: DocumentMaker;
  /** The machine's clock, because clients wait for an object in real time. */
  clock: Clock;
}

/** The service's access to the bucket, with objects that faults delay or tamper with. */
export class FaultyObjects implements ObjectWriter {
  readonly #objects: ObjectWriter;
  readonly #facts: FaultFacts;
  readonly #late = new Map<string, DelayedObject>();
  readonly #arrivals = new Set<Promise<void>>();

  constructor(objects: ObjectWriter, facts: FaultFacts) {
    this.#objects = objects;
    this.#facts = facts;
    objects.onMiss(async (key) => {
      await this.#missed(key);
      // The read that triggers the arrival still finds nothing.
      return false;
    });
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const plan = this.#facts.faults.forObject(key);
    if (plan === undefined) return this.#put(key, body);
    const come = new AbortController();
    const arrival = this.#arrive(key, plan, come.signal).finally(() => this.#arrivals.delete(arrival));
    this.#arrivals.add(arrival);
    const reads = plan.reads ?? Number.POSITIVE_INFINITY;
    this.#late.set(key, { body, reads, come, arrival });
  }

  /** Returns an object. The service itself always finds its own objects, even delayed ones. */
  async get(key: string): Promise<Uint8Array | null> {
    return this.#late.get(key)?.body ?? this.#objects.get(key);
  }

  async clear(keys?: readonly string[]): Promise<void> {
    await this.#discard(keys);
    await this.#objects.clear(keys);
  }

  onMiss(listener: (key: string) => Promise<boolean>): void {
    this.#objects.onMiss(listener);
  }

  /** Puts all delayed objects into the bucket immediately, so that a restarted sandbox finds them. */
  async close(): Promise<void> {
    for (const { come } of this.#late.values()) come.abort();
    await Promise.all(this.#arrivals);
  }

  /** Discards delayed objects that have not arrived yet. */
  async #discard(keys: Iterable<string> = [...this.#late.keys()]): Promise<void> {
    for (const key of keys) {
      const late = this.#late.get(key);
      this.#late.delete(key);
      late?.come.abort();
      await late?.arrival;
    }
  }

  async #missed(key: string): Promise<void> {
    const late = this.#late.get(key);
    if (!late) return;
    late.reads -= 1;
    if (late.reads > 0) return;
    late.come.abort();
    await late.arrival;
  }

  async #arrive(key: string, { ms }: ObjectPlan, signal: AbortSignal): Promise<void> {
    if (ms === undefined) await aborted(signal);
    else await this.#facts.clock.sleep(ms, signal).catch(() => undefined);
    const late = this.#late.get(key);
    if (!late) return;
    await this.#put(key, late.body).catch(() => undefined);
    this.#late.delete(key);
  }

  async #put(key: string, body: Uint8Array): Promise<void> {
    const isSealed = Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('/ByteRange');
    const how = isSealed ? this.#facts.faults.forDocument(key) : undefined;
    const stored = how === undefined ? body : await this.#facts.documents.tampered(body, how);
    await this.#objects.put(key, stored);
  }
}
