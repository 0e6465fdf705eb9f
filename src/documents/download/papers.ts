import type { Envelope } from '../../api/schemas.ts';
import { StorageError, UsageError } from '../../kernel/errors.ts';
import { isTerminal, PAPERS, type Paper } from '../../kernel/vocabulary.ts';
import { safeFileName } from '../archive/file-names.ts';

/** One file to fetch: which paper of which envelope, its storage key, and the name it gets here. */
export interface WantedFile {
  envelopeId: string | null;
  what: Paper | null;
  key: string;
  fileName: string;
}

/**
 * The storage key of a paper, by the field that documents it (Resources, Envelope).
 * A key set by the service wins; nothing is guessed from the shape of other keys.
 */
export function keyOf(envelope: Envelope, what: Paper): string | undefined {
  const key = {
    document: envelope.documentStorageKey,
    signed: envelope.signedDocumentStorageKey,
    certificate: envelope.certificateStorageKey,
  }[what];
  return key ?? undefined;
}

/**
 * The file of a paper.
 * @throws StorageError STORAGE_NOT_READY while the service has set no key.
 */
export function fileOf(envelope: Envelope, what: Paper): WantedFile {
  const key = keyOf(envelope, what);
  if (key !== undefined) {
    return { envelopeId: envelope.id, what, key, fileName: paperName(envelope.id, what) };
  }
  throw notReady(envelope, what);
}

/** Said of the envelope, and the same of both papers of a signed one. */
function notReady({ id, ...envelope }: Envelope, what: Paper): StorageError {
  const status = envelope.status ?? 'unknown';
  const not = (message: string, hint: string) => new StorageError('STORAGE_NOT_READY', message, { hint });
  if (what === 'document')
    return not(
      `The service has not named the document of ${id} yet.`,
      'It does when the envelope is created; ask again in a moment.',
    );
  if (status === 'COMPLETED')
    return not(
      `${id} is COMPLETED, but the service has not named its signed papers yet.`,
      'Wait longer with --wait 5m.',
    );
  const unsigned = `\`esign envelopes download ${id} --what document\``;
  if (isTerminal(status))
    return not(`${id} is ${status}: it has no signed papers, and will have none.`, `Unsigned: ${unsigned}.`);
  const watch = `\`esign envelopes watch ${id}\` tells when it is COMPLETED.`;
  return not(`${id} is ${status}: it has no signed papers yet.`, `${watch} Unsigned: ${unsigned}.`);
}

/** The name a paper gets where no other is asked for. */
export function paperName(envelopeId: string, what: Paper): string {
  return safeFileName(`${envelopeId}.${what}.pdf`);
}

/** The file of a bare storage key. Keys of the documented shape give the envelope's name to the file. */
export function fileOfKey(key: string): WantedFile {
  const parts = key.split('/');
  const last = parts.at(-1) ?? '';
  if (last === '')
    throw new UsageError(`The key "${key}" names a folder, not a file.`, {
      hint: 'Give the key of a file; `esign envelopes get ID` shows them.',
    });
  const what = PAPERS.find((paper) => last === `${paper}.pdf`) ?? null;
  const envelopeId = parts.at(-2) ?? '';
  if (what !== null && envelopeId.startsWith('env_')) {
    return { envelopeId, what, key, fileName: paperName(envelopeId, what) };
  }
  return { envelopeId: null, what, key, fileName: safeFileName(last) };
}
