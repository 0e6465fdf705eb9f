import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { EsignError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import { defaultFileName } from '../archive/file-names.ts';
import { type NameTemplate, renderName, valuesOfEnvelope } from '../archive/name-template.ts';
import type { FileTarget } from './fetch.ts';
import { fileOfKey, keyOf, type LocateOptions, locateDocument } from './locate.ts';

const CONCURRENT_LOOKUPS = 8;

/** Returns the files of bare storage keys. */
export function targetsOfKeys(keys: readonly string[], template: NameTemplate | undefined): FileTarget[] {
  return keys.map((key) => {
    const file = fileOfKey(key);
    const { envelopeId, what } = file;
    const values = { key, name: key.split('/').at(-1), envelopeId, what };
    const fileName = template === undefined ? file.fileName : renderName(template, values);
    return { envelopeId, what, key, fileName, locate: () => Promise.resolve(file) };
  });
}

export interface TargetOptions {
  client: Client;
  kinds: readonly DocumentKind[];
  template: NameTemplate | undefined;
  waiting: LocateOptions;
}

/** Returns the documents of envelopes by id. Reads the envelopes first only if a template needs their values. */
export async function targetsOfIds(ids: readonly string[], options: TargetOptions): Promise<FileTarget[]> {
  const { client, kinds, template, waiting } = options;
  if (template === undefined) {
    return ids.flatMap((id) =>
      kinds.map((what) => ({
        envelopeId: id,
        what,
        key: null,
        fileName: defaultFileName(id, what),
        locate: () => locateDocument(client, id, what, waiting),
      })),
    );
  }
  const targets: FileTarget[] = [];
  const look = (id: string) =>
    client.envelopes.get(id, waiting.signal).catch((error: unknown) => {
      if (waiting.signal?.aborted || !(error instanceof EsignError)) throw error;
      return { id, error };
    });
  for await (const found of mapInOrder(ids, CONCURRENT_LOOKUPS, look)) {
    if ('error' in found && found.error instanceof EsignError) {
      for (const what of kinds) targets.push(unnamed(found.id, what, found.error));
    } else targets.push(...targetsOf(found, options));
  }
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
  { client, kinds, template, waiting }: TargetOptions,
): FileTarget[] {
  // Only the necessary fields are kept, because there can be ten thousand envelopes.
  const { id, status, documentStorageKey, signedDocumentStorageKey, certificateStorageKey } = envelope;
  const known = { id, status, documentStorageKey, signedDocumentStorageKey, certificateStorageKey };
  return kinds.map((what) => {
    const key = keyOf(known, what);
    const values = template === undefined ? undefined : valuesOfEnvelope(envelope, what, key);
    return {
      envelopeId: id,
      what,
      key: key ?? null,
      fileName: template && values ? renderName(template, values) : defaultFileName(id, what),
      locate: () => locateDocument(client, id, what, waiting, known),
    };
  });
}

function unnamed(envelopeId: string, what: DocumentKind, error: EsignError): FileTarget {
  return { envelopeId, what, key: null, fileName: null, locate: () => Promise.reject(error) };
}
