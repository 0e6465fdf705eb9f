import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Clock, TimeLimit } from '../../kernel/clock.ts';
import { type EsignError, StorageError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { type DocumentKind, isTerminal } from '../../kernel/vocabulary.ts';
import { type NameTemplate, renderName, valuesOfEnvelope } from '../archive/name-template.ts';
import { LOOKUP_INTERVAL_MS, SIGNING_INTERVAL_MS } from '../download-limits.ts';

/** A file to download. */
export interface FileTarget {
  envelopeId: string | null;
  what: DocumentKind | null;
  /** The storage key; null if the envelope has to be read first. */
  key: string | null;
  /** The file's name in the folder; null if it can't be determined because of `error`. */
  fileName: string | null;
  /** The envelope's status when the service returned the key; null for a bare key, which proves nothing about an envelope. */
  status: string | null;
  /** Set if the file is named after the values that the envelope has when it is read again. */
  template?: NameTemplate | undefined;
  /** Set if the envelope could not be read. */
  error?: EsignError;
  /** The first reading of the envelope, which the targets of one envelope share. */
  reading?: FirstReading;
}

/** Reads an envelope once for several targets. It is kept only until all of them have it. */
export class FirstReading {
  #envelope: Promise<Envelope> | undefined;
  #left: number;

  constructor(targets: number) {
    this.#left = targets;
  }

  take(read: () => Promise<Envelope>): Promise<Envelope> {
    this.#envelope ??= read();
    const envelope = this.#envelope;
    if (--this.#left <= 0) this.#envelope = undefined;
    return envelope;
  }
}

/** A target whose storage key and file name are known. */
export interface DocumentFile extends FileTarget {
  key: string;
  fileName: string;
}

/** Options for waiting for files that don't exist yet. */
export interface LocateOptions {
  /** The client that reads envelopes. Bare keys don't need one. */
  client: Client | undefined;
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
  const { envelopeId, what, fileName, template, status, error } = target;
  const { client, limit, clock, signal, onWait } = options;
  if (error !== undefined) throw error;
  if (target.key !== null && fileName !== null)
    return { envelopeId, what, key: target.key, fileName, status };
  if (client === undefined || envelopeId === null || what === null || fileName === null)
    throw new TypeError('a target without a key needs a client, an envelope, and a name');
  const read = () => client.envelopes.get(envelopeId, signal);
  for (let isFirst = true; ; isFirst = false) {
    const envelope = await (isFirst && target.reading ? target.reading.take(read) : read());
    const intervalMs = intervalOf(envelope, what, options);
    if (keyOf(envelope, what) !== undefined || intervalMs === undefined || limit.left() === 0) {
      const key = requireKey(envelope, what);
      const name = template && renderName(template, valuesOfEnvelope(envelope, what, key));
      return {
        envelopeId: envelope.id,
        what,
        key,
        fileName: name ?? fileName,
        status: envelope.status ?? null,
      };
    }
    onWait?.(`The ${what} file for ${envelopeId} has no storage key yet. Waiting for it.`);
    await clock.sleep(intervalMs, signal);
  }
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
export function requireKey(envelope: Envelope, what: DocumentKind): string {
  const key = keyOf(envelope, what);
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
export function keyOf(envelope: Envelope, what: DocumentKind): string | undefined {
  const key = {
    document: envelope.documentStorageKey,
    signed: envelope.signedDocumentStorageKey,
    certificate: envelope.certificateStorageKey,
  }[what];
  return key || undefined;
}
