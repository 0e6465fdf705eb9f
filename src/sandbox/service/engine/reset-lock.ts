/** Keeps what is being put into the bucket from going with what a reset takes away. */
export class ResetGate {
  /** The latest reset, over or not. */
  #latest: Promise<unknown> | undefined;

  reset(work: () => Promise<void>): Promise<void> {
    const reset = work();
    this.#latest = reset.catch(() => undefined);
    return reset;
  }

  /** Waits for a reset on the way, and puts once more when another one began meanwhile. */
  async put(work: () => Promise<void>): Promise<void> {
    let reset: Promise<unknown> | undefined;
    do {
      reset = this.#latest;
      await reset;
      await work();
    } while (reset !== this.#latest);
  }
}
