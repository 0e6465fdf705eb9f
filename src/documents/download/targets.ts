import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { EsignError, StorageError, UsageError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { DOCUMENT_KINDS, type DocumentKind, isTerminal } from '../../kernel/vocabulary.ts';
import { defaultFileName, safeFileName } from '../archive/file-names.ts';
import { type NameTemplate, renderName, valuesOfEnvelope } from '../archive/name-template.ts';

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
  /** Returns the file's name if the envelope has to be read again, because the name contains its values. */
  nameOf?: ((envelope: Envelope) => string) | undefined;
  /** Set if the envelope could not be read. */
  error?: EsignError;
}

/** A target whose storage key and file name are known. */
export interface DocumentFile extends FileTarget {
  key: string;
  fileName: string;
}

const CONCURRENT_LOOKUPS = 8;

/** Returns the files of bare storage keys. */
export function targetsOfKeys(keys: readonly string[], template: NameTemplate | undefined): DocumentFile[] {
  return keys.map((key) => {
    const file = fileOfKey(key);
    if (template === undefined) return file;
    const { envelopeId, what } = file;
    const values = { key, name: key.split('/').at(-1), envelopeId, what };
    return { ...file, fileName: renderName(template, values) };
  });
}

export interface TargetOptions {
  client: Client;
  kinds: readonly DocumentKind[];
  template: NameTemplate | undefined;
  signal?: AbortSignal | undefined;
}

/** Returns the documents of envelopes by id. Reads the envelopes first only if a template needs their values. */
export async function targetsOfIds(ids: readonly string[], options: TargetOptions): Promise<FileTarget[]> {
  const { client, kinds, template, signal } = options;
  const unread = (envelopeId: string, fileNameOf: (what: DocumentKind) => string | null) =>
    kinds.map((what) => ({ envelopeId, what, key: null, fileName: fileNameOf(what), status: null }));
  if (template === undefined) return ids.flatMap((id) => unread(id, (what) => defaultFileName(id, what)));
  const read = (id: string) =>
    client.envelopes.get(id, signal).then(
      (envelope) => targetsOf(envelope, options),
      (error: unknown) => {
        if (signal?.aborted || !(error instanceof EsignError)) throw error;
        return unread(id, () => null).map((target) => ({ ...target, error }));
      },
    );
  const targets: FileTarget[] = [];
  for await (const found of mapInOrder(ids, CONCURRENT_LOOKUPS, read)) targets.push(...found);
  return targets;
}

/** Returns the existing documents of the envelopes in a selection, each envelope once. */
export async function targetsOfSelection(
  envelopes: AsyncIterable<Envelope> | Iterable<Envelope>,
  options: TargetOptions,
): Promise<FileTarget[]> {
  const seen = new Set<string>();
  const targets: FileTarget[] = [];
  for await (const envelope of envelopes) {
    if (seen.has(envelope.id)) continue;
    seen.add(envelope.id);
    const kinds = options.kinds.filter((what) => isDue(envelope, what));
    targets.push(...targetsOf(envelope, { ...options, kinds }));
  }
  return targets;
}

/** Returns the status, by ID, of the envelopes in a selection that have none of these documents yet. */
export function withoutDocuments(
  envelopes: readonly Envelope[],
  kinds: readonly DocumentKind[],
): Map<string, string> {
  const without = envelopes.filter((one) => !kinds.some((what) => isDue(one, what)));
  return new Map(without.map(({ id, status }) => [id, status ?? 'without a status']));
}

/** Returns true if the document should exist: before an envelope is completed, only the original does. */
function isDue(envelope: Envelope, what: DocumentKind): boolean {
  return what === 'document' || envelope.status === 'COMPLETED' || keyOf(envelope, what) !== undefined;
}

/** Returns these kinds of documents of an envelope, including those that don't exist yet. */
export function targetsOf(
  envelope: Envelope,
  { kinds, template }: Pick<TargetOptions, 'kinds' | 'template'>,
): FileTarget[] {
  const { id, status = null } = envelope;
  return kinds.map((what) => {
    const key = keyOf(envelope, what);
    const nameOf = (one: Envelope) =>
      template === undefined
        ? defaultFileName(id, what)
        : renderName(template, valuesOfEnvelope(one, what, keyOf(one, what)));
    const target = { envelopeId: id, what, key: key ?? null, fileName: nameOf(envelope), status };
    return key === undefined && template !== undefined ? { ...target, nameOf } : target;
  });
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

/** Returns the file of a bare storage key. If the key has the documented format, the file name contains the envelope's ID. */
export function fileOfKey(key: string): DocumentFile {
  const parts = key.split('/');
  const last = parts.at(-1) ?? '';
  if (last === '')
    throw new UsageError(`The key "${key}" belongs to a folder, not a file.`, {
      hint: "Pass a file's key. `esign envelopes get ID` shows the keys.",
    });
  const what = DOCUMENT_KINDS.find((kind) => last === `${kind}.pdf`) ?? null;
  const envelopeId = parts.at(-2) ?? '';
  if (what !== null && envelopeId.startsWith('env_'))
    return { envelopeId, what, key, fileName: defaultFileName(envelopeId, what), status: null };
  return { envelopeId: null, what, key, fileName: safeFileName(last), status: null };
}
