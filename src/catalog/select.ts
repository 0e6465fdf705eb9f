import type { Client } from '../api/client.ts';
import { READ_CONCURRENCY } from '../api/limits.ts';
import type { Envelope } from '../api/resource-types.ts';
import { timeOf } from '../kernel/clock.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { completeItem, readIfExists } from './envelope-list.ts';
import type { FindOptions } from './index/query.ts';
import { RunMembers, type SelectedRun } from './run-members.ts';
import { isUnfiltered, itemFilter, matchesOneSigner, type Selection } from './selection.ts';

export interface SelectEnvelopesOptions {
  pageSize?: number | undefined;
  /** Receives the total, if the service returns it and nothing is filtered here. */
  onTotal?: ((total: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields matching envelopes in the order of the service's list. The service filters by one status; the rest is filtered here.
 * The order of the list is not documented, so every page is read. Items that lack a field of the filter are read with a GET. The
 * envelopes of a run come at the end, when all of them are known.
 */
export async function* selectEnvelopes(
  client: Client,
  selection: Selection,
  { signal, pageSize, onTotal }: SelectEnvelopesOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const { run } = selection;
  const status = selection.statuses?.length === 1 ? selection.statuses[0] : undefined;
  const list = { status, pageSize, signal, onTotal: isUnfiltered(selection) ? onTotal : undefined };
  const items = run === undefined ? client.envelopes.list(list) : await itemsOfRun(client, run, signal);
  let filter: ReturnType<typeof itemFilter> | undefined;
  for await (const item of items) {
    // The first response has set the service's clock.
    filter ??= itemFilter(selection, client.serviceClock.now());
    let [one, isMatch] = [item, filter(item)];
    if (isMatch === undefined) {
      one = await completeItem(client, item, signal);
      isMatch = filter(one);
    }
    if (isMatch) yield one;
  }
}

/** Returns the envelopes of a run and those that replaced one of them. */
async function itemsOfRun(
  client: Client,
  run: SelectedRun,
  signal: AbortSignal | undefined,
): Promise<Envelope[]> {
  const members = new RunMembers(run);
  const candidates = new Map<string, Envelope>();
  const add = (envelope: Envelope) => {
    const { id, metadata, createdAt } = envelope;
    members.add(id, timeOf(createdAt), metadata);
    if (members.mayInclude(id)) candidates.set(id, envelope);
  };
  // Not filtered by status, because a replaced envelope may itself be a replacement.
  for await (const item of client.envelopes.list({ signal, isThorough: true })) add(item);
  // The list may lag behind the journal.
  const unlisted = [...(run.envelopeIds ?? [])].filter((id) => !candidates.has(id));
  const readById = (id: string) => readIfExists(client, id, signal);
  for await (const whole of mapInOrder(unlisted, READ_CONCURRENCY, readById)) if (whole) add(whole);
  const undecided = [...candidates.values()].filter(({ id }) => members.isUndecided(id));
  const read = (item: Envelope) => completeItem(client, item, signal);
  for await (const whole of mapInOrder(undecided, READ_CONCURRENCY, read))
    add({ ...whole, metadata: whole.metadata ?? null });
  return [...candidates.values()].filter(({ id }) => members.has(id));
}

/**
 * Returns the matches to show first, newest first, and the number of all. With a limit, it holds no more than twice as many.
 * `oneSignerFirst`: those in which one signer matches every word come before the others.
 */
export async function bestMatches(
  matches: AsyncIterable<Envelope>,
  selection: Selection,
  { limit = Number.POSITIVE_INFINITY, oneSignerFirst }: Pick<FindOptions, 'limit' | 'oneSignerFirst'>,
): Promise<{ best: Envelope[]; total: number }> {
  const ranked = (found: Envelope[]) => {
    const sorted = found.sort(newestFirst);
    if (!oneSignerFirst) return sorted;
    const isFirst = new Set(sorted.filter((one) => matchesOneSigner(one, selection)));
    return [...isFirst, ...sorted.filter((one) => !isFirst.has(one))];
  };
  let best: Envelope[] = [];
  let total = 0;
  for await (const one of matches) {
    total++;
    best.push(one);
    if (best.length > 2 * limit) best = ranked(best).slice(0, limit);
  }
  return { best: ranked(best).slice(0, limit), total };
}

/** Envelopes without a creation time come last. */
function newestFirst(a: Envelope, b: Envelope): number {
  return (timeOf(b.createdAt) || 0) - (timeOf(a.createdAt) || 0);
}
