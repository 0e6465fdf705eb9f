import { randomBytes } from 'node:crypto';
import { dropOldest } from '../../kernel/bounded.ts';
import { UsageError } from '../../kernel/errors.ts';
import { isList, isRecord } from '../../kernel/json.ts';

/** How long a confirmation is valid, in ms. */
const LIFE_MS = 15 * 60_000;
/** The most open confirmations. */
const MAX_OPEN = 100;
/** The number of used confirmations to remember. */
const USED_MAX = 10_000;

/** An action that was shown by a dry run and may run once. */
interface Planned<T> {
  /** The call of the dry run. */
  call: string;
  until: number;
  act: () => Promise<T>;
}

/** The confirmations of dry runs. Each runs its action once, for the same call. */
export class Confirmations<T> {
  readonly #planned = new Map<string, Planned<T>>();
  readonly #used = new Set<string>();
  readonly #now: () => number;

  /** `now`: a clock in ms that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns a new confirmation. */
  issue(call: string, act: () => Promise<T>): string {
    const value = `confirm-${randomBytes(9).toString('base64url')}`;
    this.#planned.set(value, { call, until: this.#now() + LIFE_MS, act });
    dropOldest(this.#planned, MAX_OPEN);
    return value;
  }

  /**
   * Uses up a confirmation and returns its action.
   * @throws UsageError if it is unknown, was already used, has expired, or belongs to another call.
   */
  redeem(value: string, call: string): () => Promise<T> {
    if (this.#used.has(value))
      throw new UsageError('This confirmation was already used.', {
        hint: 'The action may have run. Check with find or get before you call the tool again. With the same arguments, create keeps its request ID.',
      });
    const planned = this.#planned.get(value);
    if (planned === undefined || planned.until < this.#now())
      throw refused('This confirmation is unknown or has expired.');
    if (planned.call !== call) throw refused('This confirmation was issued for different arguments.');
    this.#planned.delete(value);
    this.#used.add(value);
    dropOldest(this.#used, USED_MAX);
    return planned.act;
  }
}

function refused(message: string): UsageError {
  return new UsageError(message, {
    hint: 'Nothing was done. Call the tool with dryRun: true, show the result, and repeat the same arguments with its confirmation.',
  });
}

/** Returns a text that identifies the call, regardless of the order of its arguments. */
export function callOf(name: string, input: Record<string, unknown>): string {
  return JSON.stringify([name, sorted(input)]);
}

function sorted(value: unknown): unknown {
  if (isList(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return Object.fromEntries(names.sort().map((name): [string, unknown] => [name, sorted(value[name])]));
}
