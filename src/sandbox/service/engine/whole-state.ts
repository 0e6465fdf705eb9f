import type { Clock } from '../../../kernel/clock.ts';
import type { DocumentMaker } from '../../model.ts';
import type { SandboxClock } from '../base/sandbox-clock.ts';
import type { StoreChange } from '../store/records.ts';
import type { KeptState } from '../store/snapshots.ts';
import type { Store } from '../store/store.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import type { DocumentStore } from './document-store.ts';

/* Changes of the whole service: everything in progress is stopped first. */

interface Parts {
  store: Store;
  clock: SandboxClock;
  realClock: Clock;
  /** Where a reset puts the sandbox's clock, in ms since the epoch; at the machine's time without it. */
  startsAt: number | undefined;
  sender: WebhookSender;
  documents: DocumentMaker;
  documentStore: DocumentStore;
}

/** Back to templates of the sandbox's own and the key of that hash. */
export async function resetState(
  keptKeyHash: string,
  { store, sender, clock, documents, documentStore, startsAt }: Parts,
): Promise<void> {
  const key = store.state.keyByHash(keptKeyHash);
  const offset = startsAt === undefined ? 0 : clock.offsetFor(startsAt);
  sender.clear();
  const saved = store.commit([
    { kind: 'reset', value: null },
    { kind: 'org', value: store.state.orgId },
    { kind: 'clock', value: offset },
    ...documents.templates().map((value): StoreChange => ({ kind: 'template', value })),
    ...(key ? [{ kind: 'key', value: key } satisfies StoreChange] : []),
  ]);
  try {
    await saved;
  } catch (error) {
    sender.resume();
    throw error;
  }
  clock.offsetMs = offset;
  await documentStore.clear();
}

/** To a state that was kept, its files included. */
export async function replaceState(
  { changes, journal }: KeptState,
  { store, sender, clock }: Parts,
  bringBack: () => Promise<void>,
): Promise<void> {
  sender.clear();
  await store.settled();
  try {
    await store.replace(changes, journal);
    clock.offsetMs = store.state.clockOffsetMs;
    await bringBack();
  } finally {
    sender.resume();
  }
}
