import type { JournalPosition } from '../../journal/day-journal.ts';
import type { Delivery } from '../receive/delivery.ts';
import { EventReader } from './event-journal.ts';
import { deliveryOf } from './record.ts';

/** The maximum size of deliveries kept in memory. Others are read from the journal when they are needed. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** The approximate size of a delivery without its body. */
const OVERHEAD_BYTES = 1_024;

/** A delivery in memory or in the journal. It can be taken once. */
export interface BufferedDelivery {
  deliveryId: string;
  /** @throws if it was deleted from the journal or can't be read */
  take(): Promise<Delivery>;
}

/** Buffers deliveries for a slow consumer with limited memory. */
export class DeliveryBuffer {
  #bytes = 0;

  add(delivery: Delivery, place: JournalPosition): BufferedDelivery {
    const { deliveryId, raw, reason } = delivery;
    const bytes = raw.byteLength + OVERHEAD_BYTES;
    // Refused deliveries are limited by their number, and the journal doesn't have all their facts.
    if (reason === null && this.#bytes + bytes > MAX_BUFFERED_BYTES) return storedDelivery(deliveryId, place);
    this.#bytes += bytes;
    const take = () => {
      this.#bytes -= bytes;
      return Promise.resolve(delivery);
    };
    return { deliveryId, take };
  }
}

/** Not a closure in `add`, which would keep the delivery in memory. */
function storedDelivery(deliveryId: string, place: JournalPosition): BufferedDelivery {
  const take = async () => {
    const reader = new EventReader();
    const record = await reader.read(place, deliveryId).finally(() => reader.close());
    if (record === undefined) throw new Error('it was deleted from the journal');
    return deliveryOf(record);
  };
  return { deliveryId, take };
}
