/** Keeps what is being written for an envelope or a template on one side of a reset or of new fields of a template. */
export class ResetLock {
  /** The latest exclusive work, over or not. */
  #latest: Promise<unknown> = Promise.resolve();

  /** Work that nothing may straddle, one at a time. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#latest.then(work);
    this.#latest = done.catch(() => undefined);
    return done;
  }

  /**
   * Work that is done once more when exclusive work began meanwhile. What the caller commits right after it comes before
   * the next exclusive work.
   */
  async shared(work: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    let latest: Promise<unknown>;
    do {
      latest = this.#latest;
      await latest;
      await work();
    } while (latest !== this.#latest);
  }
}
