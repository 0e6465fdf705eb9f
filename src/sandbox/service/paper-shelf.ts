import { createHash } from 'node:crypto';
import { PAPERS } from '../../kernel/vocabulary.ts';
import type { EnvelopeRecord, ObjectWriter, PaperMaker, TemplateRecord } from '../model.ts';
import { storageKey } from './lifecycle.ts';

const PDF = 'application/pdf';

/** Has the papers drawn and puts them into the bucket. */
export class PaperShelf {
  readonly #papers: PaperMaker;
  readonly #objects: ObjectWriter;
  /** Drawn once per template and run: a thousand envelopes share the same empty pages. */
  readonly #documents = new Map<string, Promise<Uint8Array>>();

  constructor(papers: PaperMaker, objects: ObjectWriter) {
    this.#papers = papers;
    this.#objects = objects;
  }

  /** document.pdf, at creation. */
  async putDocument(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    await this.#objects.put(envelope.documentStorageKey, await this.#documentOf(template), PDF);
  }

  /** signed.pdf and certificate.pdf of an envelope about to be COMPLETED. */
  async putSigned(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    const stored = await this.#objects.get(envelope.documentStorageKey);
    const document = stored ?? (await this.#documentOf(template));
    const signed = await this.#papers.signed({ template, envelope, document });
    await this.#objects.put(storageKey(envelope, 'signed'), signed, PDF);
    const hashes = { documentSha256: sha256(document), signedSha256: sha256(signed) };
    const certificate = await this.#papers.certificate({ template, envelope, ...hashes });
    await this.#objects.put(storageKey(envelope, 'certificate'), certificate, PDF);
  }

  /** Takes an envelope's papers away; without one, every paper there is. What others put stays. */
  async clear(envelope?: EnvelopeRecord): Promise<void> {
    await this.#objects.clear(envelope && PAPERS.map((paper) => storageKey(envelope, paper)));
  }

  #documentOf(template: TemplateRecord): Promise<Uint8Array> {
    const known = this.#documents.get(template.id);
    if (known) return known;
    const drawn = this.#papers.document(template);
    this.#documents.set(template.id, drawn);
    drawn.catch(() => this.#documents.delete(template.id));
    return drawn;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
