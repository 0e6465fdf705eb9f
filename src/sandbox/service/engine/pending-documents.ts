import type { EnvelopeRecord, ObjectWriter } from '../../model.ts';
import type { StoreState } from '../store/state.ts';
import { type DocumentStore, storageKey } from './document-store.ts';
import type { ResetLock } from './reset-lock.ts';

const KEY = /^esign\/envelopes\/[^/]+\/([^/]+)\/(document|signed|certificate)\.pdf$/;

/** Draws the documents of seeded envelopes when somebody first asks for them: a thousand of them would take a minute. */
export class PendingDocuments implements Pick<ObjectWriter, 'get'> {
  readonly #objects: ObjectWriter;
  readonly #state: StoreState;
  readonly #documentStore: DocumentStore;
  readonly #resets: ResetLock;
  /** What was drawn once is not drawn again: somebody may have taken it away. */
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

  /** After a reset all of them are owed again. */
  forget(): void {
    this.#drawn.clear();
  }

  /** True when the document is there now. */
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
      const isThere = await work;
      this.#drawn.set(what, Promise.resolve(false));
      return isThere;
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
