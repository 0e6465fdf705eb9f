import { hash } from 'node:crypto';
import { KeyedQueue } from '../../../kernel/async/keyed-queue.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { DOCUMENT_KINDS, type DocumentKind } from '../../../kernel/vocabulary.ts';
import type { DocumentMaker, EnvelopeRecord, ObjectWriter, TemplateRecord } from '../../model.ts';
import type { Faults } from '../faults/faults.ts';
import type { StoreState } from '../store/state.ts';

/** Returns the storage key of a document (Envelope). */
export function storageKey(envelope: Pick<EnvelopeRecord, 'id' | 'orgId'>, kind: DocumentKind): string {
  return `esign/envelopes/${envelope.orgId}/${envelope.id}/${kind}.pdf`;
}

interface DocumentStoreParts {
  state: StoreState;
  documents: DocumentMaker;
  objects: ObjectWriter;
  faults: Faults;
  /** The machine's clock, because clients wait for an object in real time. */
  clock: Pick<Clock, 'now'>;
}

/**
 * The documents of the envelopes in the bucket. Those of a seeded or restored envelope are drawn when they are first requested, because
 * drawing a thousand of them would take a minute.
 */
export class DocumentStore {
  readonly #parts: DocumentStoreParts;
  readonly #drawing = new KeyedQueue();
  /** The objects that a fault hides from other clients: until a time (ms since the epoch), or for a number of reads. */
  readonly #hidden = new Map<string, { until: number; reads: number }>();

  constructor(parts: DocumentStoreParts) {
    this.#parts = parts;
    parts.objects.onRead(async (key) => {
      await this.#drawPending(key);
      return !this.#isHidden(key);
    });
  }

  /** Stores document.pdf when an envelope is created. */
  async putDocument(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    await this.#put(envelope, 'document', await this.#parts.documents.document(template));
  }

  /** Stores signed.pdf and certificate.pdf of an envelope that is about to be COMPLETED. */
  async putSigned(template: TemplateRecord, envelope: EnvelopeRecord): Promise<void> {
    const { documents, objects } = this.#parts;
    const stored = await objects.get(envelope.documentStorageKey);
    const document = stored ?? (await documents.document(template));
    const signed = await documents.signed({ template, envelope, document });
    await this.#put(envelope, 'signed', await this.#tampered('signed', signed));
    const hashes = { documentSha256: hash('sha256', document), signedSha256: hash('sha256', signed) };
    const certificate = await documents.certificate({ template, envelope, ...hashes });
    await this.#put(envelope, 'certificate', await this.#tampered('certificate', certificate));
  }

  /** Returns a document, also one that a fault hides from other clients. */
  async get(key: string): Promise<Uint8Array | null> {
    await this.#drawPending(key);
    return this.#parts.objects.get(key);
  }

  /** Deletes an envelope's documents; without an envelope, every document. */
  async clear(envelope?: EnvelopeRecord): Promise<void> {
    await this.#parts.objects.clear(envelope && DOCUMENT_KINDS.map((kind) => storageKey(envelope, kind)));
  }

  async #drawPending(key: string): Promise<void> {
    const { state, objects } = this.#parts;
    const envelope = state.envelopes.get(key.split('/').at(-2) ?? '');
    const kind = envelope?.pendingDocuments?.find((one) => storageKey(envelope, one) === key);
    if (envelope === undefined || kind === undefined) return;
    await this.#drawing.run(envelope.id, async () => {
      const template = state.templates.get(envelope.templateId);
      if (template === undefined || (await objects.get(key)) !== null) return;
      if (kind === 'document') await this.putDocument(template, envelope);
      else await this.putSigned(template, envelope);
      // A reset has deleted the envelope in the meantime.
      if (!state.envelopes.has(envelope.id)) await this.clear(envelope);
    });
  }

  async #put(envelope: EnvelopeRecord, kind: DocumentKind, body: Uint8Array): Promise<void> {
    const { objects, faults, clock } = this.#parts;
    const key = storageKey(envelope, kind);
    const missing = faults.forDocument('missingObject', kind);
    const { ms = Number.POSITIVE_INFINITY, reads = Number.POSITIVE_INFINITY } = missing ?? {};
    if (missing === undefined) this.#hidden.delete(key);
    else this.#hidden.set(key, { until: clock.now() + ms, reads });
    await objects.put(key, body);
  }

  async #tampered(kind: DocumentKind, pdf: Uint8Array): Promise<Uint8Array> {
    const fault = this.#parts.faults.forDocument('tamperedDocument', kind);
    return fault === undefined ? pdf : this.#parts.documents.tampered(pdf, fault.how);
  }

  /** Returns true if a read by another client finds nothing yet, and counts it. */
  #isHidden(key: string): boolean {
    const hidden = this.#hidden.get(key);
    if (hidden === undefined) return false;
    if (hidden.reads > 0 && this.#parts.clock.now() < hidden.until) {
      hidden.reads -= 1;
      return true;
    }
    this.#hidden.delete(key);
    return false;
  }
}
