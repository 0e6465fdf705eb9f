import type { EnvelopeRecord, ObjectWriter } from '../../model.ts';
import type { StoreState } from '../store/state.ts';
import { type DocumentStore, storageKey } from './document-store.ts';
import type { ResetLock } from './reset-lock.ts';

const KEY = /^esign\/envelopes\/[^/]+\/([^/]+)\/(document|signed|certificate)\.pdf$/;

/** Draws the documents of seeded envelopes when they are first requested, because drawing a thousand of them would take a minute. */
export class PendingDocuments implements Pick<ObjectWriter, 'get'> {
  readonly #objects: ObjectWriter;
  readonly #state: StoreState;
  readonly #documentStore: DocumentStore;
  readonly #resets: ResetLock;
  /** The documents that were already drawn. They aren't drawn again, because a client may have deleted them. */
  readonly #drawn = new Map<string, Promise<boolean>>();

  constructor(facts: {
    objects: ObjectWriter;
    state: StoreState;
    documentStore: DocumentStore;
    resets: ResetLock;
  }) {
    this.#objects = facts.objects;
    this.#state = facts.state;
    this.#documentStore = facts.documentStore;
    this.#resets = facts.resets;
    this.#objects.onMiss((key) => this.#draw(key));
  }

  async get(key: string): Promise<Uint8Array | null> {
    const found = await this.#objects.get(key);
    return found === null && (await this.#draw(key)) ? this.#objects.get(key) : found;
  }

  /** Makes all documents pending again, after a reset. */
  forget(): void {
    this.#drawn.clear();
  }

  /** Draws a pending document. Returns true if it exists now. */
  async #draw(key: string): Promise<boolean> {
    const [, id = '', name] = KEY.exec(key) ?? [];
    const envelope = this.#state.envelopes.get(id);
    const kind = envelope?.owedPapers?.find((one) => one === name);
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
    const template = this.#state.templates.get(envelope.templateId);
    if (template === undefined) return false;
    await this.#resets.shared(() =>
      isDocument
        ? this.#documentStore.putDocument(template, envelope)
        : this.#documentStore.putSigned(template, envelope),
    );
    if (this.#state.envelopes.has(envelope.id)) return true;
    await this.#documentStore.clear(envelope);
    return false;
  }
}
