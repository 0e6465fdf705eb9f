import { abortReason } from '../clock.ts';

/** Runs work for the same key in order, one at a time. Work for different keys doesn't wait. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work for `key`, even if that failed. If the signal aborts before then, `work` is not run. Running
   * work must handle the signal itself.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const before = this.#tails.get(key) ?? Promise.resolve();
    let cancel: (() => void) | undefined;
    const result = before.then(() => {
      if (cancel) signal?.removeEventListener('abort', cancel);
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
    const canceled = new Promise<never>((_, reject) => {
      cancel = () => reject(abortReason(signal));
      signal.addEventListener('abort', cancel, { once: true });
    });
    return Promise.race([result, canceled]);
  }
}
