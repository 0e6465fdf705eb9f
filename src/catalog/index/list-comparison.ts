import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import type { EnvelopePage } from '../../api/resources.ts';
import { CLOCK_SLACK_MS } from '../../api/service-clock.ts';
import { timeOf } from '../../kernel/clock.ts';
import { MAX_LIST_LAG_MS, recentItems, sortOrderOf } from '../envelope-list.ts';
import type { IndexedEnvelope, Snapshot } from './snapshot.ts';

/** The result of comparing an index with the service's list. */
interface WalkResult {
  /** The IDs of the items that were read. */
  seen: ReadonlySet<string>;
  /** Indexed, but no longer in the list. */
  gone: string[];
  /** Missing from the list, but new enough that they may still appear. */
  unconfirmed: Set<string>;
  /** Every envelope created until then is known, by the service's clock. */
  upTo: number;
  /** How many more envelopes the service counts than it lists. */
  extra: number;
}

/**
 * Finds envelopes that an index lacks. If the service counts its envelopes, one or two pages show that nothing is new. Otherwise,
 * the list is read as far as needed, and completely if the counts differ.
 */
export class ListComparison {
  readonly #client: Client;
  readonly #before: Snapshot;
  readonly #onItems: (items: readonly Envelope[], total: number | undefined) => void;
  readonly #seen = new Set<string>();
  #added = 0;
  #hasKnown = false;
  #total: number | undefined;
  #extra: number;
  #upTo: number | undefined;
  /** An envelope that was final has changed: the service was reset to an earlier state. */
  #wasReset = false;

  /** `onItems` receives each item, and the number of all. */
  constructor(
    client: Client,
    before: Snapshot,
    onItems: (items: readonly Envelope[], total: number | undefined) => void,
  ) {
    this.#client = client;
    this.#before = before;
    this.#onItems = onItems;
    this.#extra = before.completeness?.extra ?? 0;
  }

  async run(signal: AbortSignal | undefined): Promise<WalkResult> {
    const isWhole = !(await this.#findRecent(signal));
    if (isWhole) await this.#readAll(signal);
    const upTo = this.#upTo ?? this.#client.serviceClock.now();
    const { known } = this.#before;
    const missing = isWhole ? [...known.values()].filter(({ id }) => !this.#seen.has(id)) : [];
    // An envelope with a later creation time than now isn't new: the service's clock went back.
    const mayAppear = ({ created }: IndexedEnvelope) =>
      created > upTo - MAX_LIST_LAG_MS && created <= upTo + CLOCK_SLACK_MS;
    return {
      seen: this.#seen,
      gone: missing.filter((one) => !mayAppear(one)).map(({ id }) => id),
      unconfirmed: new Set(missing.filter(mayAppear).map(({ id }) => id)),
      upTo,
      extra: this.#extra,
    };
  }

  /** Returns true if it found everything new without reading the whole list. */
  async #findRecent(signal: AbortSignal | undefined): Promise<boolean> {
    const { completeness } = this.#before;
    if (completeness === undefined) return false;
    const { envelopes, serviceClock } = this.#client;
    const first = await envelopes.page(1, { signal });
    // The last comparison may have missed an envelope created shortly before it.
    const since = completeness.upTo - CLOCK_SLACK_MS;
    const onPage = ({ items, total }: EnvelopePage) => {
      this.#take(items, total);
      return this.#isComplete() || this.#wasReset;
    };
    // If the service's clock went back, times no longer show what is new.
    if (sortOrderOf(first.items) === 'unknown' || since > serviceClock.now()) onPage(first);
    else for await (const _ of recentItems(this.#client, () => since, { signal, first, onPage }));
    if (this.#wasReset || since > serviceClock.now()) return false;
    // Without a count, the newest items are enough if known ones follow.
    return this.#total === undefined
      ? sortOrderOf(first.items) === 'newest-first' && this.#hasKnown
      : this.#isComplete();
  }

  /** Reads the whole list. If the counts still differ at its end, the service counts envelopes that it doesn't list. */
  async #readAll(signal: AbortSignal | undefined): Promise<void> {
    const onTotal = (total: number) => {
      this.#total = total;
    };
    this.#seen.clear();
    for await (const item of this.#client.envelopes.list({ signal, onTotal }))
      this.#take([item], this.#total);
    this.#extra = 0;
    if (this.#total === undefined || this.#seen.size === this.#total) return;
    const { items, total } = await this.#client.envelopes.page(1, { signal });
    this.#take(items, total);
    this.#extra = this.#total - this.#seen.size;
  }

  #take(items: readonly Envelope[], total: number | undefined): void {
    // The first response has set the service's clock.
    this.#upTo ??= this.#client.serviceClock.now();
    this.#total = total ?? this.#total;
    for (const { id, status, createdAt } of items) {
      const known = this.#before.known.get(id);
      if (known !== undefined) this.#hasKnown = true;
      else if (!this.#seen.has(id)) this.#added++;
      this.#seen.add(id);
      if (known?.known === 'final')
        this.#wasReset ||= known.status !== (status ?? '') || !Object.is(known.created, timeOf(createdAt));
    }
    this.#onItems(items, total);
  }

  /** Returns true if as many envelopes are known as the service has. */
  #isComplete(): boolean {
    return this.#total !== undefined && this.#before.known.size + this.#added === this.#total - this.#extra;
  }
}
