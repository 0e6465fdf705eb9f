import type { Clock } from '../../kernel/clock.ts';
import type { ObjectWriter } from '../model.ts';
import type { Faults } from './faults.ts';

interface LateObject {
  body: Uint8Array;
  contentType: string;
  cancel: AbortController;
}

/** The bucket as the service sees it, with objects that come late where the faults say so. */
export class LateObjects implements ObjectWriter {
  readonly #objects: ObjectWriter;
  readonly #faults: Faults;
  readonly #clock: Clock;
  readonly #late = new Map<string, LateObject>();
  readonly #arrivals = new Set<Promise<void>>();

  /** `clock` is the machine's: who waits for an object waits in real time. */
  constructor(objects: ObjectWriter, faults: Faults, clock: Clock) {
    this.#objects = objects;
    this.#faults = faults;
    this.#clock = clock;
  }

  async put(key: string, body: Uint8Array, contentType: string): Promise<void> {
    const ms = this.#faults.objectDelay(key);
    if (ms === 0) {
      await this.#objects.put(key, body, contentType);
      return;
    }
    const cancel = new AbortController();
    this.#late.set(key, { body, contentType, cancel });
    const arrival = this.#arrive(key, ms, cancel.signal).finally(() => this.#arrivals.delete(arrival));
    this.#arrivals.add(arrival);
  }

  /** The service itself always finds what it has put. */
  async get(key: string): Promise<Uint8Array | null> {
    return this.#late.get(key)?.body ?? this.#objects.get(key);
  }

  /** Puts at once what is still to come: a restart must find it. */
  async close(): Promise<void> {
    for (const { cancel } of this.#late.values()) cancel.abort();
    await Promise.all(this.#arrivals);
  }

  async #arrive(key: string, ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal).catch(() => undefined);
    const late = this.#late.get(key);
    if (!late) return;
    await this.#objects.put(key, late.body, late.contentType).catch(() => undefined);
    this.#late.delete(key);
  }
}
