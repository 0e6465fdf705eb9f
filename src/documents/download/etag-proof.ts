/**
 * What the files of one run show about the ETags of their bucket. An ETag that looks like an MD5 is taken as one, until an intact seal
 * proves bytes that have a different MD5.
 */
export class BucketEtags {
  #areOther = false;
  #running = 0;
  readonly #undecided = new Set<() => void>();

  /** Runs the download of a file, which may decide the question for others. */
  async during<T>(download: () => Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await download();
    } finally {
      this.#running--;
      this.#decide();
    }
  }

  /** Records that the ETag of a sealed file is not its MD5. */
  proveOther(): void {
    this.#areOther = true;
    this.#decide();
  }

  /** True once a sealed file proved that the ETags are something other than MD5s. */
  get areOther(): boolean {
    return this.#areOther;
  }

  /** Waits while a running download may still prove it. Returns whether one did. */
  async awaitProof(): Promise<boolean> {
    await new Promise<void>((resolve) => {
      this.#undecided.add(resolve);
      this.#decide();
    });
    return this.#areOther;
  }

  #decide(): void {
    if (!this.#areOther && this.#undecided.size < this.#running) return;
    for (const resolve of this.#undecided) resolve();
    this.#undecided.clear();
  }
}
