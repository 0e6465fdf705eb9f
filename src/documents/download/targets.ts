import type { Envelope } from '../../api/resource-types.ts';
import { UsageError } from '../../kernel/errors.ts';
import { DOCUMENT_KINDS, type DocumentKind } from '../../kernel/vocabulary.ts';
import { type FileTarget, storageKeyOf } from './locate.ts';

/** Returns the file of a storage key. A key with the documented format contains the ID of an envelope and the kind of document. */
export function targetOfKey(key: string): FileTarget {
  const parts = key.split('/');
  const last = parts.at(-1) ?? '';
  if (last === '')
    throw new UsageError(`The key "${key}" belongs to a folder, not a file.`, {
      hint: "Pass a file's key. `esign envelopes get ID` shows the keys.",
    });
  const what = DOCUMENT_KINDS.find((kind) => last === `${kind}.pdf`) ?? null;
  const envelopeId = parts.at(-2) ?? '';
  return what !== null && envelopeId.startsWith('env_')
    ? { envelopeId, what, key }
    : { envelopeId: null, what: null, key };
}

/** Returns the documents of an envelope that has to be read. */
export function targetsOfId(
  envelopeId: string,
  kinds: readonly DocumentKind[],
  read: (id: string) => Promise<Envelope>,
): FileTarget[] {
  let first: Promise<Envelope> | undefined;
  const readFirst = () => {
    first ??= read(envelopeId);
    return first;
  };
  return kinds.map((what) => ({ envelopeId, what, key: null, readFirst }));
}

/** Returns these kinds of documents of an envelope, including those that don't exist yet. */
export function targetsOf(envelope: Envelope, kinds: readonly DocumentKind[]): FileTarget[] {
  return kinds.map((what) => ({
    envelopeId: envelope.id,
    what,
    key: storageKeyOf(envelope, what) ?? null,
    envelope,
  }));
}

/** Returns the kinds of documents that an envelope should have: before it is completed, only the original. */
export function dueKinds(envelope: Envelope, kinds: readonly DocumentKind[]): DocumentKind[] {
  const isDue = (what: DocumentKind) =>
    what === 'document' || envelope.status === 'COMPLETED' || storageKeyOf(envelope, what) !== undefined;
  return kinds.filter(isDue);
}

/** Returns the status, by ID, of the envelopes in a selection that have none of these documents yet. */
export function envelopesWithoutDocuments(
  envelopes: readonly Envelope[],
  kinds: readonly DocumentKind[],
): Map<string, string> {
  const without = envelopes.filter((one) => dueKinds(one, kinds).length === 0);
  return new Map(without.map(({ id, status }) => [id, status ?? 'without a status']));
}
