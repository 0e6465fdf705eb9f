import type { EnvelopeRecord, ObjectWriter } from '../../model.ts';
import type { StoreState } from '../store/state.ts';
import { type DocumentStore, storageKey } from './document-store.ts';
import type { ResetLock } from './reset-lock.ts';

const KEY = /^esign\/envelopes\/[^/]+\/([^/]+)\/(document|signed|certificate)\.pdf$/;

interface PendingDocumentsOptions {
  objects: ObjectWriter;
  state: StoreState;
  documentStore: DocumentStore;
  resets: ResetLock;
}

/** Draws the documents of seeded envelopes when they are first requested, because drawing a thousand of them would take a minute. */
export class PendingDocuments implements Pick<ObjectWriter, 'get'> {
  readonly #options: PendingDocumentsOptions;
  /** The documents that were already drawn. They aren't drawn again, because a client may have deleted them. */
  readonly #drawn = new Map<string, Promise<boolean>>();

  constructor(options: PendingDocumentsOptions) {
    this.#options = options;
    options.objects.onMiss((key) => this.#draw(key));
  }

  async get(key: string): Promise<Uint8Array | null> {
    const { objects } = this.#options;
    const found = await objects.get(key);
    return found === null && (await this.#draw(key)) ? objects.get(key) : found;
  }

  /** Makes all documents pending again, after a reset. */
  forget(): void {
    this.#drawn.clear();
  }

  /** Draws a pending document. Returns true if it exists now. */
  async #draw(key: string): Promise<boolean> {
    const [, id = '', name] = KEY.exec(key) ?? [];
    const envelope = this.#options.state.envelopes.get(id);
    const kind = envelope?.pendingDocuments?.find((one) => one === name);
    if (envelope === undefined || kind === undefined || storageKey(envelope, kind) !== key) return false;
    // signed.pdf and certificate.pdf are drawn together.
    const what = `${id} ${kind === 'document' ? 'document' : 'signed'}`;
    const underWay = this.#drawn.get(what);
    if (underWay !== undefined) return underWay;
    const work = this.#put(envelope, kind === 'document');
    this.#drawn.set(what, work);
    try {
      const isStored = await work;
      this.#drawn.set(what, Promise.resolve(false));
      return isStored;
    } catch (error) {
      this.#drawn.delete(what);
      throw error;
    }
  }

  async #put(envelope: EnvelopeRecord, isDocument: boolean): Promise<boolean> {
    const { state, documentStore, resets } = this.#options;
    const template = state.templates.get(envelope.templateId);
    if (template === undefined) return false;
    await resets.shared(() =>
      isDocument
        ? documentStore.putDocument(template, envelope)
        : documentStore.putSigned(template, envelope),
    );
    if (state.envelopes.has(envelope.id)) return true;
    await documentStore.clear(envelope);
    return false;
  }
}
