import { randomBytes } from 'node:crypto';
import { UsageError } from '../../kernel/errors.ts';
import { isList, isRecord } from '../../kernel/json.ts';

/** Who has not answered by then has to see again what would happen, in ms. */
const LIFE_MS = 15 * 60_000;
/** More than so many open questions are none. */
const MOST = 100;
/** Used confirmations that are recognized when they come again. */
const USED_MAX = 10_000;

/** What was shown and may be done, once. */
interface Planned<T> {
  /** The call that it was shown for. */
  call: string;
  until: number;
  act: () => Promise<T>;
}

/** What dry runs have shown. Each is done by the value that its dry run gave, for the very same call, once. */
export class Confirmations<T> {
  readonly #planned = new Map<string, Planned<T>>();
  readonly #used = new Set<string>();
  readonly #now: () => number;

  /** `now`: a clock in ms that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The value that does it. */
  give(call: string, act: () => Promise<T>): string {
    const value = `confirm-${randomBytes(9).toString('base64url')}`;
    this.#planned.set(value, { call, until: this.#now() + LIFE_MS, act });
    for (const oldest of this.#planned.keys()) {
      if (this.#planned.size <= MOST) break;
      this.#planned.delete(oldest);
    }
    return value;
  }

  /**
   * What was shown for this call; the value is spent by it.
   * @throws UsageError when it is unknown, was already used, has expired, or was given for another call.
   */
  take(value: string, call: string): () => Promise<T> {
    if (this.#used.has(value))
      throw new UsageError('This confirmation was already used.', {
        hint: 'It may have been done. Check with find or get before you call the tool again. With the same arguments, create keeps its request ID.',
      });
    const planned = this.#planned.get(value);
    if (planned === undefined || planned.until < this.#now())
      throw refused('This confirmation has expired, or it is unknown.');
    if (planned.call !== call) throw refused('This confirmation is for other arguments.');
    this.#planned.delete(value);
    addBounded(this.#used, value);
    return planned.act;
  }
}

function addBounded(values: Set<string>, value: string): void {
  values.add(value);
  for (const oldest of values) {
    if (values.size <= USED_MAX) break;
    values.delete(oldest);
  }
}

function refused(message: string): UsageError {
  return new UsageError(message, {
    hint: 'Nothing was done. Call it with dryRun: true, show what it says, and repeat the same arguments with its confirmation.',
  });
}

/** A call as text that is the same for the same arguments, in whatever order they come. */
export function callOf(name: string, input: Record<string, unknown>): string {
  return JSON.stringify([name, sorted(input)]);
}

function sorted(value: unknown): unknown {
  if (isList(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return Object.fromEntries(names.sort().map((name): [string, unknown] => [name, sorted(value[name])]));
}
