import { createHash } from 'node:crypto';
import { PAPERS, type Paper } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord, ObjectWriter, PaperMaker, TemplateRecord } from '../../model.ts';
import type { Uploads } from '../store/uploads.ts';

const PDF = 'application/pdf';
/** Storage key shape (Envelope). */
export function storageKey(envelope: Pick<EnvelopeRecord, 'id' | 'orgId'>, paper: Paper): string {
  return `esign/envelopes/${envelope.orgId}/${envelope.id}/${paper}.pdf`;
}

/** How many templates' empty pages are kept in memory; a few are used at a time. */
const KEPT = 8;

interface Drawn {
  template: TemplateRecord;
  document: Promise<Uint8Array>;
}

/** Has the papers drawn and puts them into the bucket. */
export class PaperStore {
  readonly #papers: PaperMaker;
  readonly #objects: ObjectWriter;
  readonly #uploads: Uploads;
  /** Drawn once per template, the latest used last: a thousand envelopes share the same empty pages. */
  readonly #documents = new Map<string, Drawn>();

  constructor(papers: PaperMaker, objects: ObjectWriter, uploads: Uploads) {
    this.#papers = papers;
    this.#objects = objects;
    this.#uploads = uploads;
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

  /** Takes an envelope's papers away; without one, every paper and uploaded PDF. What others put stays. */
  async clear(envelope?: EnvelopeRecord): Promise<void> {
    await this.#objects.clear(envelope && PAPERS.map((paper) => storageKey(envelope, paper)));
    if (envelope === undefined) await this.#uploads.clear();
  }

  #documentOf(template: TemplateRecord): Promise<Uint8Array> {
    const { id } = template;
    const known = this.#documents.get(id);
    const isSame = known !== undefined && (known.template === template || template.upload === undefined);
    const drawn = isSame ? known : { template, document: this.#draw(template) };
    this.#documents.delete(id);
    this.#documents.set(id, drawn);
    for (const oldest of [...this.#documents.keys()].slice(0, -KEPT)) this.#documents.delete(oldest);
    drawn.document.catch(() => this.#documents.delete(id));
    return drawn.document;
  }

  async #draw(template: TemplateRecord): Promise<Uint8Array> {
    if (template.upload === undefined) return this.#papers.document(template);
    return this.#papers.document(template, await this.#uploads.get(template.id));
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
