import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import type { Clock, TimeLimit } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { isTerminal } from '../../kernel/statuses.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import {
  type NameTemplate,
  type NameValues,
  renderName,
  valuesOfEnvelope,
} from '../archive/file-name-template.ts';
import { defaultFileName, safeFileName } from '../archive/file-names.ts';
import { LOOKUP_INTERVAL_MS, SIGNING_INTERVAL_MS } from '../download-limits.ts';

/** A file to download: an object of the bucket, or a document of an envelope. */
export interface FileTarget {
  envelopeId: string | null;
  what: DocumentKind | null;
  /** The storage key; null if the envelope has to be read first. */
  key: string | null;
  /** The envelope, if the service returned it already. A bare key proves nothing about an envelope. */
  envelope?: Envelope;
  /** Reads the envelope, once for all of its targets. */
  readFirst?: () => Promise<Envelope>;
}

/** A target whose storage key and file name are known. */
export interface DocumentFile {
  envelopeId: string | null;
  what: DocumentKind | null;
  key: string;
  /** The path in the folder. */
  fileName: string;
  /** The envelope's status, if the service returned the key. */
  status: string | null;
}

/** Options for finding files, and for waiting for those that don't exist yet. */
export interface LocateOptions {
  /** The client that reads envelopes. Bare keys don't need one. */
  client: Client | undefined;
  /** The names of the files; by default, their IDs and kinds. */
  naming?: NameTemplate | string | undefined;
  /** How long to wait for all files. */
  limit: TimeLimit;
  /** Whether to wait for the signers of an open envelope, too. */
  untilSigned?: boolean;
  clock: Clock;
  signal?: AbortSignal | undefined;
  onWait?: (reason: string) => void;
}

/**
 * Returns the file of a target. Reads its envelope if the key is not known. If a completed envelope has no key yet, reads it again
 * until it has one or the waiting time is over.
 * @throws EsignError if the envelope can't be read, or has no such document.
 */
export async function locate(target: FileTarget, options: LocateOptions): Promise<DocumentFile> {
  const { envelopeId, what, key, envelope } = target;
  if (key !== null && envelope === undefined) return fileOfKey(target, key, options);
  if (envelopeId === null || what === null) throw new TypeError('a target has neither a key nor an envelope');
  if (key !== null && envelope !== undefined) return fileOf(envelope, what, options);
  const { client, limit, clock, signal, onWait } = options;
  const read = () => {
    if (client === undefined) throw new TypeError('a target without a key needs a client');
    return client.envelopes.get(envelopeId, signal);
  };
  for (let next = target.readFirst ?? read; ; next = read) {
    const found = await next();
    const intervalMs = intervalOf(found, what, options);
    if (storageKeyOf(found, what) !== undefined || intervalMs === undefined || limit.left() === 0)
      return fileOf(found, what, options);
    const upTo = `Waiting up to ${durationInWords(limit.left())}`;
    onWait?.(
      isTerminal(found.status ?? '')
        ? `The ${what} file for ${envelopeId} is not ready yet. ${upTo}.`
        : `${envelopeId} is ${found.status ?? 'unknown'}. ${upTo} until it is signed.`,
    );
    await clock.sleep(intervalMs, signal);
  }
}

/** Returns the file of a bare storage key. If the key has the documented format, the file name contains the envelope's ID. */
function fileOfKey({ envelopeId, what }: FileTarget, key: string, { naming }: LocateOptions): DocumentFile {
  const name = key.split('/').at(-1) ?? '';
  const isDocument = envelopeId !== null && what !== null;
  const usual = isDocument ? defaultFileName(envelopeId, what) : safeFileName(name);
  const fileName = nameWith(naming, usual, { key, name, envelopeId, what });
  return { envelopeId, what, key, fileName, status: null };
}

function fileOf(envelope: Envelope, what: DocumentKind, { naming }: LocateOptions): DocumentFile {
  const { id: envelopeId, status = null } = envelope;
  const key = requireStorageKey(envelope, what);
  const values = valuesOfEnvelope(envelope, what, key);
  return {
    envelopeId,
    what,
    key,
    fileName: nameWith(naming, defaultFileName(envelopeId, what), values),
    status,
  };
}

function nameWith(naming: LocateOptions['naming'], usual: string, values: NameValues): string {
  if (typeof naming === 'object') return renderName(naming, values);
  return naming ?? usual;
}

/** Returns how often to read an envelope until it has the key of a document, or undefined if the key isn't expected. */
function intervalOf(
  { status }: Envelope,
  what: DocumentKind,
  { untilSigned }: LocateOptions,
): number | undefined {
  if (what === 'document' || status === 'COMPLETED') return LOOKUP_INTERVAL_MS;
  return untilSigned && !isTerminal(status ?? '') ? SIGNING_INTERVAL_MS : undefined;
}

/**
 * Returns the storage key of a document.
 * @throws StorageError STORAGE_NOT_READY until the service has set it. The error is the same for both documents of a signed envelope.
 */
export function requireStorageKey(envelope: Envelope, what: DocumentKind): string {
  const key = storageKeyOf(envelope, what);
  if (key !== undefined) return key;
  throw notReady(envelope, what);
}

function notReady({ id, ...envelope }: Envelope, what: DocumentKind): StorageError {
  const status = envelope.status ?? 'unknown';
  const error = (message: string, hint: string) => new StorageError('STORAGE_NOT_READY', message, { hint });
  if (what === 'document')
    return error(
      `The document for ${id} has no storage key yet.`,
      'The service sets the key after the envelope is created. Try again in a moment.',
    );
  if (status === 'COMPLETED')
    return error(
      `${id} is COMPLETED, but its signed documents have no storage keys yet.`,
      'To wait longer, use --wait 5m.',
    );
  const unsigned = `Unsigned: \`${command('envelopes', 'download', id, '--what', 'document')}\`.`;
  if (isTerminal(status)) return error(`${id} is ${status}: it will never have signed documents.`, unsigned);
  const watch = `To wait until it is completed, run \`${command('envelopes', 'watch', id)}\`.`;
  return error(`${id} is ${status}: it has no signed documents yet.`, `${watch} ${unsigned}`);
}

/** Returns the storage key of a document from the envelope's field for it (Resources, Envelope). */
export function storageKeyOf(envelope: Envelope, what: DocumentKind): string | undefined {
  const key = {
    document: envelope.documentStorageKey,
    signed: envelope.signedDocumentStorageKey,
    certificate: envelope.certificateStorageKey,
  }[what];
  return key || undefined;
}
