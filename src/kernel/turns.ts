import { abortReason } from './clock.ts';

/** Work on one key happens in the order it was asked for, one at a time; different keys do not wait. */
export class Turns {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after everything asked for `key` before it; a failure of one does not stop the next. When the signal aborts
   * before its turn has come, `work` is not run; once it runs, the signal is its own business.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const before = this.#tails.get(key) ?? Promise.resolve();
    let giveUp: (() => void) | undefined;
    const result = before.then(() => {
      if (giveUp) signal?.removeEventListener('abort', giveUp);
      if (signal?.aborted) throw abortReason(signal);
      return work();
    });
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    if (signal === undefined) return result;
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = () => reject(abortReason(signal));
      signal.addEventListener('abort', giveUp, { once: true });
    });
    return Promise.race([result, givenUp]);
  }
}
