/** Runs the calls of the write tools one at a time, because the guards count the emails of one call. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all earlier calls have ended. */
  next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Waits until every call has ended, including those that the client has canceled. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
