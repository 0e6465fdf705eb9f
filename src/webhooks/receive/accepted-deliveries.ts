import { hash } from 'node:crypto';
import { dropOldest } from '../../kernel/drop-oldest.ts';
import type { Delivery } from './delivery.ts';

/** The maximum number of remembered deliveries: enough to recognize a day's repeats, with limited memory. */
const MAX_REMEMBERED = 100_000;

/** Returns what a delivery and its repeats share: the same ID of the same envelope. A hash, because an ID can have any length. */
export function deliveryKey({ envelopeId, id }: Pick<Delivery, 'envelopeId' | 'id'>): string {
  return hash('sha256', JSON.stringify([envelopeId, id]), 'base64');
}

/** Remembers the keys of the latest accepted deliveries. */
export function rememberKey(keys: Set<string>, key: string): void {
  dropOldest(keys.add(key), MAX_REMEMBERED);
}

/** The accepted deliveries, to recognize repeats. */
export class AcceptedDeliveries {
  readonly #keys: Set<string>;
  /** The deliveries that are being stored. */
  readonly #storing = new Map<string, Promise<void>>();

  constructor(seen?: Iterable<string>) {
    this.#keys = new Set(seen);
  }

  /**
   * Stores a delivery as new or as a repeat. A repeat of one that is being stored waits for it, because it must not be acknowledged before.
   * If storing fails, the delivery is forgotten.
   */
  async store(
    delivery: Pick<Delivery, 'envelopeId' | 'id'>,
    store: (duplicate: boolean) => Promise<void>,
  ): Promise<void> {
    const key = deliveryKey(delivery);
    const earlier = this.#storing.get(key);
    if (earlier !== undefined) await earlier;
    if (this.#keys.has(key)) return store(true);
    rememberKey(this.#keys, key);
    const storing = store(false);
    this.#storing.set(key, storing);
    try {
      await storing;
    } catch (error) {
      this.#keys.delete(key);
      throw error;
    } finally {
      this.#storing.delete(key);
    }
  }
}
