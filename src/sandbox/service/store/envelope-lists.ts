import type { EnvelopeRecord } from '../../model.ts';
import { CreationOrder, type CreationPosition } from './creation-order.ts';

/** The envelopes of each organization in order of creation, all of them and by status, so that reading a page copies only that page. */
export class EnvelopeLists {
  readonly #places = new Map<string, CreationPosition>();
  readonly #lists = new Map<string, CreationOrder>();

  /** Adds an envelope, or moves it from the list of its previous status to that of its current one. */
  put(envelope: EnvelopeRecord, before: EnvelopeRecord | undefined): void {
    const { id, orgId, status } = envelope;
    let place = this.#places.get(id);
    if (place === undefined) {
      place = { id, createdAt: Date.parse(envelope.createdAt), nth: this.#places.size };
      this.#places.set(id, place);
      this.list(orgId).add(place);
    }
    if (before?.status === status) return;
    if (before) this.list(orgId, before.status).remove(place);
    this.list(orgId, status).add(place);
  }

  list(orgId: string, status?: string): CreationOrder {
    const key = `${orgId} ${status ?? ''}`;
    const known = this.#lists.get(key);
    if (known) return known;
    const list = new CreationOrder();
    this.#lists.set(key, list);
    return list;
  }

  clear(): void {
    this.#places.clear();
    this.#lists.clear();
  }
}
