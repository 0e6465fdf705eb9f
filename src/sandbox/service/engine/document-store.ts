import { hash } from 'node:crypto';
import { DOCUMENT_KINDS, type DocumentKind } from '../../../kernel/vocabulary.ts';
import type { DocumentMaker, EnvelopeRecord, ObjectWriter, TemplateRecord } from '../../model.ts';
import type { Uploads } from '../store/uploads.ts';

const PDF = 'application/pdf';
/** Returns the storage key of a document (Envelope). */
export function storageKey(envelope: Pick<EnvelopeRecord, 'id' | 'orgId'>, kind: DocumentKind): string {
  return `esign/envelopes/${envelope.orgId}/${envelope.id}/${kind}.pdf`;
}

/** The number of templates whose empty pages are cached. Only a few are used at a time. */
const CACHE_SIZE = 8;

/** Draws documents and puts them into the bucket. */
export class DocumentStore {
  readonly #maker: DocumentMaker;
  readonly #objects: ObjectWriter;
  readonly #uploads: Uploads;
  /** The empty pages, drawn once per template and shared by all its envelopes; the most recently used is last. */
  readonly #drawn = new Map<string, { template: TemplateRecord; document: Promise<Uint8Array> }>();

  constructor(maker: DocumentMaker, objects: ObjectWriter, uploads: Uploads) {
    this.#maker = maker;
    this.#objects = objects;
    this.#uploads = uploads;
  }

  /** Stores document.pdf when an envelope is created. */
  async putDocument(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    await this.#objects.put(envelope.documentStorageKey, await this.#documentOf(template), PDF);
  }

  /** Stores signed.pdf and certificate.pdf of an envelope that is about to be COMPLETED. */
  async putSigned(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    const stored = await this.#objects.get(envelope.documentStorageKey);
    const document = stored ?? (await this.#documentOf(template));
    const signed = await this.#maker.signed({ template, envelope, document });
    await this.#objects.put(storageKey(envelope, 'signed'), signed, PDF);
    const hashes = { documentSha256: hash('sha256', document), signedSha256: hash('sha256', signed) };
    const certificate = await this.#maker.certificate({ template, envelope, ...hashes });
    await this.#objects.put(storageKey(envelope, 'certificate'), certificate, PDF);
  }

  /** Deletes an envelope's documents; without an envelope, every document and uploaded PDF. Objects of other clients are kept. */
  async clear(envelope?: EnvelopeRecord): Promise<void> {
    await this.#objects.clear(envelope && DOCUMENT_KINDS.map((kind) => storageKey(envelope, kind)));
    if (envelope === undefined) await this.#uploads.clear();
  }

  #documentOf(template: TemplateRecord): Promise<Uint8Array> {
    const { id } = template;
    const known = this.#drawn.get(id);
    const isSame = known !== undefined && (known.template === template || template.upload === undefined);
    const drawn = isSame ? known : { template, document: this.#draw(template) };
    this.#drawn.delete(id);
    this.#drawn.set(id, drawn);
    for (const oldest of [...this.#drawn.keys()].slice(0, -CACHE_SIZE)) this.#drawn.delete(oldest);
    drawn.document.catch(() => this.#drawn.delete(id));
    return drawn.document;
  }

  async #draw(template: TemplateRecord): Promise<Uint8Array> {
    if (template.upload === undefined) return this.#maker.document(template);
    return this.#maker.document(template, await this.#uploads.get(template.id));
  }
}
