import type { Envelope } from '../api/schemas.ts';
import { isTerminal } from '../kernel/vocabulary.ts';
import type { EnvelopeIndex, RefreshOptions } from './index/envelope-index.ts';
import type { IndexedEnvelope, Snapshot } from './index/snapshot.ts';
import { type Selection, selectionFilter } from './select.ts';

export interface AccountOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  selection: Selection;
  /** `all`: also the envelopes outside the selection, as they were last read. */
  scope: 'selected' | 'all';
}

/** The envelopes of an account, and a test for the selected ones. */
export interface AccountEnvelopes {
  envelopes: AsyncIterable<Envelope> | Iterable<Envelope>;
  isSelected: (envelope: Envelope) => boolean;
}

/**
 * Returns the envelopes of the account, after reading new ones and the selected ones that are still active. A declined envelope
 * is not read again: it may have been canceled since, but it was declined. `selected` leaves out most of the other envelopes, but
 * not all.
 * @throws IndexUnusable
 */
export async function accountEnvelopes(
  index: EnvelopeIndex,
  { selection, scope, ...options }: AccountOptions,
): Promise<AccountEnvelopes> {
  const { serviceClock } = index.client;
  const isHit = (one: IndexedEnvelope, snapshot: Snapshot) => snapshot.isHit(one, serviceClock.now());
  const snapshot = await index.refreshAll(selection, {
    ...options,
    mayHaveChanged: (one, known) => !isTerminal(one.status) && isHit(one, known),
  });
  const entries = [...snapshot.known.values()].filter((one) => scope === 'all' || isHit(one, snapshot));
  // The snapshot also contains the envelopes that replace those of the run.
  const matches = selectionFilter({ ...selection, run: undefined }, serviceClock.now());
  const isSelected = (one: Envelope) => (snapshot.members?.has(one.id) ?? true) && matches(one);
  return { envelopes: storedEnvelopes(index, entries), isSelected };
}

function* storedEnvelopes(index: EnvelopeIndex, entries: readonly IndexedEnvelope[]): Generator<Envelope> {
  if (entries.length === 0) return;
  const file = index.file.open();
  try {
    yield* file.all(entries);
  } finally {
    file.close();
  }
}
