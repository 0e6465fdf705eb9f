import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { EsignError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import type { Paper } from '../../kernel/vocabulary.ts';
import { type NameTemplate, renderName, valuesOfEnvelope } from '../archive/name-template.ts';
import { type FileTarget, locatePaper, type Waiting } from './fetch.ts';
import { fileOfKey, keyOf, paperName } from './papers.ts';

const LOOKUPS_AT_ONCE = 8;

/** The files of bare storage keys. */
export function targetsOfKeys(keys: readonly string[], template: NameTemplate | undefined): FileTarget[] {
  return keys.map((key) => {
    const wanted = fileOfKey(key);
    const { envelopeId, what } = wanted;
    const values = { key, name: key.split('/').at(-1), envelopeId, what };
    const fileName = template === undefined ? wanted.fileName : renderName(template, values);
    return { envelopeId, what, key, fileName, locate: () => Promise.resolve({ ...wanted, fileName }) };
  });
}

export interface PaperOptions {
  client: Client;
  papers: readonly Paper[];
  template: NameTemplate | undefined;
  waiting: Waiting;
}

/** The papers of envelopes known by their ids. Only a template needs the envelopes before the first file. */
export async function targetsOfIds(ids: readonly string[], options: PaperOptions): Promise<FileTarget[]> {
  const { client, papers, template, waiting } = options;
  if (template === undefined) {
    return ids.flatMap((id) =>
      papers.map((what) => ({
        envelopeId: id,
        what,
        key: null,
        fileName: paperName(id, what),
        locate: () => locatePaper(client, id, what, waiting),
      })),
    );
  }
  const targets: FileTarget[] = [];
  const look = (id: string) =>
    client.envelopes.get(id, waiting.signal).catch((error: unknown) => {
      if (waiting.signal?.aborted || !(error instanceof EsignError)) throw error;
      return { id, error };
    });
  for await (const found of mapInOrder(ids, LOOKUPS_AT_ONCE, look)) {
    if ('error' in found && found.error instanceof EsignError) {
      for (const what of papers) targets.push(unnamed(found.id, what, found.error));
    } else targets.push(...papersOf(found, options));
  }
  return targets;
}

/** The papers of envelopes as a list shows them. */
export async function targetsOfEnvelopes(
  envelopes: AsyncIterable<Envelope> | Iterable<Envelope>,
  options: PaperOptions,
): Promise<FileTarget[]> {
  const seen = new Set<string>();
  const targets: FileTarget[] = [];
  for await (const envelope of envelopes) {
    if (seen.has(envelope.id)) continue;
    seen.add(envelope.id);
    targets.push(...papersOf(envelope, options));
  }
  return targets;
}

function papersOf(envelope: Envelope, { client, papers, template, waiting }: PaperOptions): FileTarget[] {
  // Of ten thousand envelopes only what is needed is kept.
  const { id, status, documentStorageKey, signedDocumentStorageKey, certificateStorageKey } = envelope;
  const known = { id, status, documentStorageKey, signedDocumentStorageKey, certificateStorageKey };
  return papers.map((what) => {
    const key = keyOf(known, what);
    const values = template === undefined ? undefined : valuesOfEnvelope(envelope, what, key);
    return {
      envelopeId: id,
      what,
      key: key ?? null,
      fileName: template && values ? renderName(template, values) : paperName(id, what),
      locate: () => locatePaper(client, id, what, waiting, known),
    };
  });
}

function unnamed(envelopeId: string, what: Paper, error: EsignError): FileTarget {
  return { envelopeId, what, key: null, fileName: null, locate: () => Promise.reject(error) };
}
