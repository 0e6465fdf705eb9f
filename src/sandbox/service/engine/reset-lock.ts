/** Ensures that writes for an envelope or a template happen entirely before or after a reset or a change of a template's fields. */
export class ResetLock {
  /** The latest exclusive work, finished or not. */
  #latest: Promise<unknown> = Promise.resolve();

  /** Runs exclusive work, one at a time. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#latest.then(work);
    this.#latest = done.catch(() => undefined);
    return done;
  }

  /**
   * Runs work, and repeats it if exclusive work started in the meantime. A commit by the caller directly afterwards precedes the next exclusive
   * work.
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
