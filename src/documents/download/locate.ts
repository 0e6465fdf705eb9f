import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Clock } from '../../kernel/clock.ts';
import { StorageError, UsageError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { DOCUMENT_KINDS, type DocumentKind, isTerminal } from '../../kernel/vocabulary.ts';
import { defaultFileName, safeFileName } from '../archive/file-names.ts';
import { LOOKUP_INTERVAL_MS } from '../defaults.ts';

/** An object in the bucket: which document it is, its storage key, and its file name. */
export interface DocumentFile {
  envelopeId: string | null;
  what: DocumentKind | null;
  key: string;
  fileName: string;
  /** The envelope's status when the service returned the key; null for a bare key, which proves nothing about an envelope. */
  status: string | null;
}

/** Options for waiting for files that don't exist yet. */
export interface LocateOptions {
  /** When to stop waiting for all files, in ms since the epoch. */
  until: number;
  clock: Clock;
  signal?: AbortSignal;
  onWait?: (reason: string) => void;
}

/**
 * Returns the file of a document. If a completed envelope has no key yet, reads the envelope again until it has one or the waiting time is
 * over. `known` is the envelope as last read; if it already has the key, no request is needed.
 */
export async function locateDocument(
  client: Client,
  id: string,
  what: DocumentKind,
  waiting: LocateOptions,
  known?: Envelope,
): Promise<DocumentFile> {
  if (known !== undefined && keyOf(known, what) !== undefined) return fileOf(known, what);
  for (;;) {
    const envelope = await client.envelopes.get(id, waiting.signal);
    const isExpected = what === 'document' || envelope.status === 'COMPLETED';
    if (keyOf(envelope, what) !== undefined || !isExpected || waiting.clock.now() >= waiting.until)
      return fileOf(envelope, what);
    waiting.onWait?.(`The ${what} file of ${id} has no storage key yet. Waiting for it.`);
    await waiting.clock.sleep(LOOKUP_INTERVAL_MS, waiting.signal);
  }
}

/** Returns the storage key of a document from the envelope's field for it (Resources, Envelope). */
export function keyOf(envelope: Envelope, what: DocumentKind): string | undefined {
  const key = {
    document: envelope.documentStorageKey,
    signed: envelope.signedDocumentStorageKey,
    certificate: envelope.certificateStorageKey,
  }[what];
  return key ?? undefined;
}

/**
 * Returns the file of a document.
 * @throws StorageError STORAGE_NOT_READY until the service has set a key.
 */
export function fileOf(envelope: Envelope, what: DocumentKind): DocumentFile {
  const key = keyOf(envelope, what);
  if (key === undefined) throw notReady(envelope, what);
  const status = envelope.status ?? null;
  return { envelopeId: envelope.id, what, key, fileName: defaultFileName(envelope.id, what), status };
}

/** Creates the error for a document without a key. The message is the same for both documents of a signed envelope. */
function notReady({ id, ...envelope }: Envelope, what: DocumentKind): StorageError {
  const status = envelope.status ?? 'unknown';
  const error = (message: string, hint: string) => new StorageError('STORAGE_NOT_READY', message, { hint });
  if (what === 'document')
    return error(
      `The document of ${id} has no storage key yet.`,
      'The service sets it after the envelope is created; try again in a moment.',
    );
  if (status === 'COMPLETED')
    return error(
      `${id} is COMPLETED, but its signed documents have no storage keys yet.`,
      'Wait longer with --wait 5m.',
    );
  const unsigned = `Unsigned: \`${command('envelopes', 'download', id, '--what', 'document')}\`.`;
  if (isTerminal(status)) return error(`${id} is ${status}: it will never have signed documents.`, unsigned);
  const watch = `Wait for COMPLETED: \`${command('envelopes', 'watch', id)}\`.`;
  return error(`${id} is ${status}: it has no signed documents yet.`, `${watch} ${unsigned}`);
}

/** Returns the file of a bare storage key. If the key has the documented format, the file name contains the envelope's ID. */
export function fileOfKey(key: string): DocumentFile {
  const parts = key.split('/');
  const last = parts.at(-1) ?? '';
  if (last === '')
    throw new UsageError(`The key "${key}" is that of a folder, not a file.`, {
      hint: 'Pass the key of a file; `esign envelopes get ID` shows them.',
    });
  const what = DOCUMENT_KINDS.find((kind) => last === `${kind}.pdf`) ?? null;
  const envelopeId = parts.at(-2) ?? '';
  if (what !== null && envelopeId.startsWith('env_'))
    return { envelopeId, what, key, fileName: defaultFileName(envelopeId, what), status: null };
  return { envelopeId: null, what, key, fileName: safeFileName(last), status: null };
}
