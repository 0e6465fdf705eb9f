import type { FieldRecord, TemplateRecord } from '../../model.ts';
import { invalidBody, invalidState, notFound } from '../base/errors.ts';
import type { ServiceParts } from '../base/parts.ts';
import { isoTime } from '../base/sandbox-clock.ts';

/** The properties of a template other than its pages and fields. */
export type TemplateWords = Pick<TemplateRecord, 'name' | 'description' | 'roles'>;

/** Manages templates created from an organization's own PDFs. A template is inactive until its fields are saved. */
export class TemplateService {
  readonly #options: ServiceParts;

  constructor(options: ServiceParts) {
    this.#options = options;
  }

  /** Returns an uploaded template of the default organization. Throws NOT_FOUND for any other. */
  find(id: string): TemplateRecord {
    const { state } = this.#options.store;
    const template = state.template(id, state.orgId);
    if (template?.upload === undefined) throw notFound('Template');
    return template;
  }

  /** Returns true if envelopes were created from the template. They share its fields. */
  isUsed(id: string): boolean {
    return this.#options.store.state.isUsed(id);
  }

  pdfOf(id: string): Promise<Uint8Array> {
    return this.#options.uploads.get(this.find(id).id);
  }

  /** Creates a template from these pages, without fields. The file is on disk before the template exists. */
  async upload(words: TemplateWords, pdf: Uint8Array): Promise<TemplateRecord> {
    const inspection = await this.#options.documents.inspect(pdf);
    if ('problem' in inspection) throw invalidBody({ pdf: [inspection.problem] }, 'The file was refused');
    return this.#put({ ...words, fields: [] }, inspection.pages, pdf);
  }

  /** Creates an inactive copy with the same pages and fields. */
  async copy(id: string): Promise<TemplateRecord> {
    const { name, description, roles, fields, upload } = this.find(id);
    const words = { name: `${name.slice(0, 190)} (copy)`, description, roles };
    return this.#put({ ...words, fields }, upload?.pages ?? [], await this.pdfOf(id));
  }

  /** Saves the properties and fields, and activates the template. Throws INVALID_STATE if envelopes depend on its fields. */
  save(id: string, changes: TemplateWords & Pick<TemplateRecord, 'fields'>): Promise<TemplateRecord> {
    const { resets, store } = this.#options;
    return resets.exclusive(async () => {
      // An envelope that is still being written also uses the template.
      await store.whenIdle();
      const template = this.find(id);
      if (this.isUsed(id))
        throw invalidState('The template is in use, so its fields cannot be changed; make a copy instead');
      return this.#commit({ ...template, ...changes, active: true });
    });
  }

  /** Activates or deactivates a template, which adds it to or removes it from the list. Its envelopes aren't affected. */
  async setActive(id: string, active: boolean): Promise<TemplateRecord> {
    await this.#options.resets.shared();
    const template = this.find(id);
    if (active && template.fields.length === 0) throw invalidState('The template has no fields yet');
    return this.#commit({ ...template, active });
  }

  async #put(
    facts: TemplateWords & { fields: FieldRecord[] },
    pages: { width: number; height: number }[],
    pdf: Uint8Array,
  ): Promise<TemplateRecord> {
    const { store, clock, randomId, uploads, resets } = this.#options;
    const id = `tmpl_${randomId(10, 'tmpl')}`;
    await resets.shared(() => uploads.put(id, pdf));
    const at = isoTime(clock.now());
    const template: TemplateRecord = {
      id,
      ...facts,
      pageCount: pages.length,
      active: false,
      createdAt: at,
      updatedAt: at,
      upload: { orgId: store.state.orgId, pages },
    };
    await store.commit([{ kind: 'template', value: template }]);
    return template;
  }

  async #commit(template: TemplateRecord): Promise<TemplateRecord> {
    const value = { ...template, updatedAt: isoTime(this.#options.clock.now()) };
    await this.#options.store.commit([{ kind: 'template', value }]);
    return value;
  }
}
