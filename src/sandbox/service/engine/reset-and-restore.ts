import type { ServiceParts } from '../base/parts.ts';
import type { StoreChange } from '../store/records.ts';
import type { SavedState } from '../store/snapshots.ts';
import type { WebhookSender } from '../webhooks/sender.ts';

/* Changes of the whole state. Everything in progress is stopped first. */

export interface EngineParts extends ServiceParts {
  sender: WebhookSender;
}

/** Resets the state to the sandbox's own templates and the key with that hash. */
export async function resetState(
  keptKeyHash: string,
  { store, sender, clock, documents, documentStore, startsAt }: EngineParts,
): Promise<void> {
  const key = store.state.keyByHash(keptKeyHash);
  const offset = startsAt === undefined ? 0 : clock.offsetFor(startsAt);
  sender.clear();
  const changes: StoreChange[] = [
    { kind: 'reset', value: null },
    { kind: 'org', value: store.state.orgId },
    { kind: 'clock', ...clock.recordOf(offset) },
    ...documents.templates().map((value): StoreChange => ({ kind: 'template', value })),
    ...(key ? [{ kind: 'key', value: key } satisfies StoreChange] : []),
  ];
  await store.commit(changes).catch((error: unknown) => {
    sender.resume();
    throw error;
  });
  clock.offsetMs = offset;
  await documentStore.clear();
}

/** Replaces the state with a saved one, including its files. */
export async function replaceState(
  { changes, journal }: SavedState,
  { store, sender, clock }: EngineParts,
  restoreFiles: () => Promise<void>,
): Promise<void> {
  sender.clear();
  await store.whenIdle();
  try {
    await store.replace(changes, journal);
    clock.offsetMs = clock.offsetOf(store.state.clock);
    await restoreFiles();
  } finally {
    sender.resume();
  }
}
