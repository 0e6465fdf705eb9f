import { hash } from 'node:crypto';
import { DOCUMENT_KINDS, type DocumentKind } from '../../../kernel/vocabulary.ts';
import type { DocumentMaker, EnvelopeRecord, ObjectWriter, TemplateRecord } from '../../model.ts';

/** Returns the storage key of a document (Envelope). */
export function storageKey(envelope: Pick<EnvelopeRecord, 'id' | 'orgId'>, kind: DocumentKind): string {
  return `esign/envelopes/${envelope.orgId}/${envelope.id}/${kind}.pdf`;
}

/** Draws documents and puts them into the bucket. */
export class DocumentStore {
  readonly #maker: DocumentMaker;
  readonly #objects: ObjectWriter;

  constructor(maker: DocumentMaker, objects: ObjectWriter) {
    this.#maker = maker;
    this.#objects = objects;
  }

  /** Stores document.pdf when an envelope is created. */
  async putDocument(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    await this.#objects.put(envelope.documentStorageKey, await this.#maker.document(template));
  }

  /** Stores signed.pdf and certificate.pdf of an envelope that is about to be COMPLETED. */
  async putSigned(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    const stored = await this.#objects.get(envelope.documentStorageKey);
    const document = stored ?? (await this.#maker.document(template));
    const signed = await this.#maker.signed({ template, envelope, document });
    await this.#objects.put(storageKey(envelope, 'signed'), signed);
    const hashes = { documentSha256: hash('sha256', document), signedSha256: hash('sha256', signed) };
    const certificate = await this.#maker.certificate({ template, envelope, ...hashes });
    await this.#objects.put(storageKey(envelope, 'certificate'), certificate);
  }

  /** Deletes an envelope's documents; without an envelope, every document. */
  async clear(envelope?: EnvelopeRecord): Promise<void> {
    await this.#objects.clear(envelope && DOCUMENT_KINDS.map((kind) => storageKey(envelope, kind)));
  }
}
