import type { DocumentKind } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord } from '../../model.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import type { StoreChange } from '../store/records.ts';
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
  await documentStore.clear();
  sender.clear();
  store.commit([
    { kind: 'reset', value: null },
    { kind: 'org', value: store.state.orgId },
    { kind: 'clock', ...clock.recordOf(offset) },
    ...documents.templates().map((value): StoreChange => ({ kind: 'template', value })),
    ...(key ? [{ kind: 'key', value: key } satisfies StoreChange] : []),
  ]);
  clock.offsetMs = offset;
}

/** Replaces the state with a saved one. Its documents become pending, because drawing one again gives the same bytes. */
export async function replaceState(
  changes: readonly StoreChange[],
  { store, sender, clock, documentStore }: EngineParts,
): Promise<void> {
  await documentStore.clear();
  sender.clear();
  store.commit([
    { kind: 'reset', value: null },
    ...changes.map(
      (change): StoreChange =>
        change.kind === 'envelope' ? { kind: 'envelope', value: withoutDocuments(change.value) } : change,
    ),
  ]);
  clock.offsetMs = clock.offsetOf(store.state.clock);
  sender.resume();
}

function withoutDocuments(envelope: EnvelopeRecord): EnvelopeRecord {
  const pending: DocumentKind[] =
    envelope.status === 'COMPLETED' ? ['document', 'signed', 'certificate'] : ['document'];
  return { ...envelope, pendingDocuments: pending };
}
