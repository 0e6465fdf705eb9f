import { dropOldest } from '../../kernel/drop-oldest.ts';
import { MAX_REMEMBERED_IDS } from '../listen-defaults.ts';

/** Remembers the IDs of accepted deliveries, to recognize repeats. */
export class RecentIds {
  readonly #accepted: Set<string>;
  /** The IDs that are being recorded. */
  readonly #open = new Map<string, Promise<void>>();

  constructor(accepted?: Iterable<string>) {
    this.#accepted = new Set(accepted);
  }

  /**
   * Calls `record` with whether the ID was accepted before. A repeat waits until its first copy is recorded, because if that fails, it is
   * itself the first. @throws what `record` throws; the ID isn't accepted then
   */
  async accept(id: string, record: (duplicate: boolean) => Promise<void> | void): Promise<void> {
    for (let first = this.#open.get(id); first !== undefined; first = this.#open.get(id))
      await first.catch(() => undefined);
    if (this.#accepted.has(id)) return record(true);
    const recorded = this.#recordFirst(id, record).finally(() => this.#open.delete(id));
    this.#open.set(id, recorded);
    return recorded;
  }

  async #recordFirst(id: string, record: (duplicate: boolean) => Promise<void> | void): Promise<void> {
    await record(false);
    dropOldest(this.#accepted.add(id), MAX_REMEMBERED_IDS);
  }
}
