import type { Envelope } from '../api/schemas.ts';
import type { EnvelopeIndex, RefreshOptions } from '../envelope-index/envelope-index.ts';
import { indexQueryOf, mayMatchNow } from '../envelope-index/query.ts';
import type { IndexedEnvelope, Snapshot } from '../envelope-index/snapshot.ts';
import { type Selection, selectionFilter } from '../envelopes/select.ts';
import { isTerminal } from '../kernel/vocabulary.ts';

export interface AccountOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  selection: Selection;
  /** `all`: the envelopes outside the selection, too, as they were last read. */
  scope: 'selected' | 'all';
  /** The service's time. */
  now: () => number;
}

/** The envelopes of an account, and which of them are selected. */
export interface AccountEnvelopes {
  envelopes: AsyncIterable<Envelope> | Iterable<Envelope>;
  isSelected: (envelope: Envelope) => boolean;
}

/**
 * Returns the envelopes of the account, after what is new and the selected ones that are still active were read again. A
 * declined envelope is not: it may have been canceled since, but it was declined. `selected` leaves out most of the others,
 * not all of them.
 * @throws IndexUnusable
 */
export async function accountEnvelopes(
  index: EnvelopeIndex,
  { selection, scope, now, ...options }: AccountOptions,
): Promise<AccountEnvelopes> {
  const couldFit = mayMatchNow(selection, now);
  const maySelect = (one: IndexedEnvelope, { members }: Snapshot) =>
    one.hit && couldFit(one) && (members?.has(one.id) ?? true);
  const snapshot = await index.refreshAll({
    ...options,
    question: indexQueryOf(selection),
    mayHaveChanged: (one, known) => (one.touched || !isTerminal(one.status)) && maySelect(one, known),
  });
  const wanted = [...snapshot.known.values()].filter((one) => scope === 'all' || maySelect(one, snapshot));
  // The snapshot also finds the envelopes that replace one of the run.
  const matches = selectionFilter({ ...selection, run: undefined }, now());
  const isSelected = (one: Envelope) => (snapshot.members?.has(one.id) ?? true) && matches(one);
  return { envelopes: storedEnvelopes(index, wanted), isSelected };
}

function* storedEnvelopes(index: EnvelopeIndex, wanted: readonly IndexedEnvelope[]): Generator<Envelope> {
  if (wanted.length === 0) return;
  const file = index.file.open();
  try {
    yield* file.all(wanted);
  } finally {
    file.close();
  }
}
