import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { EsignError, UsageError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { DOCUMENT_KINDS, type DocumentKind } from '../../kernel/vocabulary.ts';
import { canonicalName, defaultFileName, safeFileName } from '../archive/file-names.ts';
import { type NameTemplate, renderName, valuesOfEnvelope } from '../archive/name-template.ts';
import { type DocumentFile, type FileTarget, FirstReading, keyOf } from './locate.ts';

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

/**
 * Returns the documents of envelopes by id. Reads the envelopes first only if a template needs their values. `known`: those that
 * can't change anymore.
 */
export async function findTargetsById(
  ids: readonly string[],
  options: TargetOptions,
  known: ReadonlyMap<string, Envelope> = new Map(),
): Promise<FileTarget[]> {
  const { client, kinds, template, signal } = options;
  const unread = (envelopeId: string, fileNameOf: (what: DocumentKind) => string | null) => {
    const reading = new FirstReading(kinds.length);
    return kinds.map((what) => ({
      envelopeId,
      what,
      key: null,
      fileName: fileNameOf(what),
      status: null,
      reading,
    }));
  };
  const ofKnown = (id: string) => {
    const envelope = known.get(id);
    return envelope && targetsOf(envelope, options);
  };
  if (template === undefined)
    return ids.flatMap((id) => ofKnown(id) ?? unread(id, (what) => defaultFileName(id, what)));
  const read = (id: string) =>
    ofKnown(id) ??
    client.envelopes.get(id, signal).then(
      (envelope) => targetsOf(envelope, options),
      (error: unknown) => {
        if (signal?.aborted || !(error instanceof EsignError)) throw error;
        return unread(id, () => null).map((target) => ({ ...target, error }));
      },
    );
  const targets: FileTarget[] = [];
  for await (const found of mapInOrder(ids, CONCURRENT_LOOKUPS, async (id) => read(id)))
    targets.push(...found);
  return targets;
}

/** Returns the existing documents of the envelopes in a selection, each envelope once. */
export async function findTargetsBySelection(
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
    const fileName =
      template === undefined
        ? defaultFileName(id, what)
        : renderName(template, valuesOfEnvelope(envelope, what, key));
    const renamedBy = key === undefined ? template : undefined;
    return { envelopeId: id, what, key: key ?? null, fileName, status, template: renamedBy };
  });
}

/** Returns the file of a bare storage key. If the key has the documented format, the file name contains the envelope's ID. */
function fileOfKey(key: string): DocumentFile {
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

type NamedFile = FileTarget & { fileName: string };

/**
 * Rejects two files with the same name (ignoring case, as some disks do), and a file whose path another file needs as a folder.
 * @throws UsageError before anything is downloaded.
 */
export function refuseCollisions(targets: readonly FileTarget[]): void {
  const files = targets.filter((one): one is NamedFile => one.fileName !== null);
  const owners = new Map<string, NamedFile>();
  for (const file of files) {
    const key = canonicalName(file.fileName);
    const other = owners.get(key);
    if (other !== undefined) throw collision(file, other);
    owners.set(key, file);
  }
  for (const file of files) {
    const parts = canonicalName(file.fileName).split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const other = owners.get(parts.slice(0, depth).join('/'));
      if (other !== undefined) throw collision(file, other);
    }
  }
}

function collision(one: NamedFile, other: NamedFile): UsageError {
  const where = one.fileName === other.fileName ? one.fileName : `${other.fileName} and ${one.fileName}`;
  return new UsageError(
    `${sourceOf(other)} and ${sourceOf(one)} would be saved under the same name (${where}). Nothing was downloaded.`,
    {
      hint: 'Use a --name-template that gives each file a unique name, with {envelopeId} and {what}, or with {key}.',
    },
  );
}

function sourceOf({ key, what, envelopeId }: NamedFile): string {
  return key ?? `the ${what ?? ''} file for ${envelopeId ?? ''}`;
}
