import { createHmac } from 'node:crypto';
import type { ErrorDetails } from '../../../kernel/errors.ts';
import { SCOPES } from '../../../kernel/vocabulary.ts';
import type { SeededKey, SeedResult } from '../../embed-model.ts';
import type { PageSize, TemplateRecord } from '../../model.ts';
import { invalidBody } from '../base/errors.ts';
import type { ServiceParts } from '../base/parts.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import { makeKey, type RandomId } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { SeedProblem, seededEnvelope } from './envelopes.ts';
import type { CheckedSeed, ReadSeed } from './schema.ts';
import { seededTemplate } from './templates.ts';

interface SeederOptions extends ServiceParts {
  /** The API key from which IDs and links are derived, so that they are the same for the same seed in the same sandbox. */
  apiKey: string;
}

const FIRST_TEMPLATE = 'tmpl_nda';
/** The maximum number of changes in one entry of the journal. */
const COMMIT_BATCH_SIZE = 500;

/** Loads seeds into the sandbox. An invalid seed changes nothing. */
export class Seeder {
  readonly #options: SeederOptions;

  constructor(options: SeederOptions) {
    this.#options = options;
  }

  /**
   * Loads a seed. Anything with the same ID is replaced; with `missingOnly`, it is kept.
   * @throws ApiError VALIDATION_ERROR with the problems by field.
   */
  async put({ seed, pdfs }: ReadSeed, { missingOnly = false } = {}): Promise<SeedResult> {
    const { store, uploads } = this.#options;
    const details = new Map<string, string[]>();
    const report = (field: string, text: string) => details.set(field, [...(details.get(field) ?? []), text]);
    const ids = (seed.organisations ?? []).map(({ id }) => id);
    for (const [index, id] of ids.entries())
      if (ids.indexOf(id) < index) report(`organisations.${index}.id`, `${id} is listed twice`);
    const templates = await this.#templates(seed, pdfs, report);
    const { keys, changes } = this.#keys(seed, report);
    const envelopes = this.#envelopes(seed, templates, report);
    if (details.size > 0) {
      const problems: ErrorDetails = Object.fromEntries(details);
      throw invalidBody(problems, 'The seed is not valid');
    }
    const isWanted = missingOnly ? (change: StoreChange) => !isKnown(store, change) : () => true;
    for (const [id, pdf] of pdfs) await uploads.put(id, pdf);
    const organisations = (seed.organisations ?? []).map(
      (value): StoreChange => ({ kind: 'organisation', value }),
    );
    const made = [...templates.values()].map((value): StoreChange => ({ kind: 'template', value }));
    const first = [...organisations, ...made, ...changes].filter(isWanted);
    if (first.length > 0) await store.commit(first);
    const wanted = envelopes.filter(([envelope]) => envelope !== undefined && isWanted(envelope));
    for (let at = 0; at < wanted.length; at += COMMIT_BATCH_SIZE)
      await store.commit(wanted.slice(at, at + COMMIT_BATCH_SIZE).flat());
    return {
      templates: templates.size,
      organisations: organisations.length,
      envelopes: envelopes.length,
      keys,
    };
  }

  async #templates(seed: CheckedSeed, pdfs: ReadonlyMap<string, Uint8Array>, report: ReportProblem) {
    const { store, clock, documents } = this.#options;
    const at = isoTime(clock.now());
    const made = new Map<string, TemplateRecord>();
    for (const [index, wanted] of (seed.templates ?? []).entries()) {
      const field = `templates.${index}`;
      if (made.has(wanted.id)) report(`${field}.id`, `${wanted.id} is listed twice`);
      const pdf = pdfs.get(wanted.id);
      let pages: PageSize[] | undefined;
      if (pdf !== undefined) {
        const inspection = await documents.inspect(pdf);
        if ('problem' in inspection) report(`${field}.pdf`, inspection.problem);
        else pages = inspection.pages;
      }
      made.set(
        wanted.id,
        seededTemplate(wanted, { before: store.state.templates.get(wanted.id), pages, at }),
      );
    }
    return made;
  }

  #keys(seed: CheckedSeed, report: ReportProblem): { keys: SeededKey[]; changes: StoreChange[] } {
    const { clock } = this.#options;
    const keys: SeededKey[] = [];
    const changes: StoreChange[] = [];
    for (const [index, wanted] of (seed.keys ?? []).entries()) {
      const orgId = this.#organisation(seed, wanted.organisation, `keys.${index}`, report);
      const scopes = [...new Set(wanted.scopes ?? SCOPES)];
      const expiresAt = wanted.expiresAt == null ? null : isoTime(Date.parse(wanted.expiresAt));
      const name = `Key ${index + 1} in the seed`;
      const facts = { orgId, name, description: '', scopes, expiresAt };
      const { key, record } = makeKey(facts, clock.now(), this.#ids(`key ${index} ${orgId}`));
      keys.push({ id: record.id, organisation: orgId, key, scopes, expiresAt });
      changes.push({ kind: 'key', value: record });
    }
    return { keys, changes };
  }

  #envelopes(
    seed: CheckedSeed,
    templates: ReadonlyMap<string, TemplateRecord>,
    report: ReportProblem,
  ): StoreChange[][] {
    const { store, clock, origin } = this.#options;
    const seen = new Set<string>();
    const now = clock.now();
    return (seed.envelopes ?? []).flatMap((wanted, index) => {
      const field = `envelopes.${index}`;
      if (seen.has(wanted.id)) report(`${field}.id`, `${wanted.id} is listed twice`);
      seen.add(wanted.id);
      const orgId = this.#organisation(seed, wanted.organisation, field, report);
      const id = wanted.template ?? seed.templates?.[0]?.id ?? FIRST_TEMPLATE;
      const template = templates.get(id) ?? store.state.template(id, orgId);
      if (template === undefined) {
        report(`${field}.template`, `Template ${id} not found`);
        return [];
      }
      const randomId = this.#countedIds(`envelope ${wanted.id}`) ?? this.#ids(`envelope ${wanted.id}`);
      try {
        return [seededEnvelope(wanted, { orgId, template, now, origin: origin(), randomId })];
      } catch (error) {
        if (!(error instanceof SeedProblem)) throw error;
        report(`${field}.${error.field}`, error.message);
        return [];
      }
    });
  }

  #organisation(seed: CheckedSeed, id: string | undefined, field: string, report: ReportProblem): string {
    const { state } = this.#options.store;
    if (id === undefined || id === state.orgId) return state.orgId;
    const isKnown = seed.organisations?.some((one) => one.id === id) || state.organisations.has(id);
    if (!isKnown) report(`${field}.organisation`, `Organization ${id} not found`);
    return id;
  }

  /** Returns numbered IDs, which stay the same if the envelope is loaded again; undefined for a sandbox with random IDs. */
  #countedIds(what: string): RandomId | undefined {
    const { counted } = this.#options;
    if (counted === undefined) return undefined;
    const other = this.#ids(what);
    let nth = 0;
    // The envelope itself has the ID in the seed.
    return (bytes, kind) =>
      kind === undefined || kind === 'env' ? other(bytes) : counted.named(`${what} ${nth++}`, kind);
  }

  /** Returns IDs that look like any others and can't be guessed without the key of this sandbox. */
  #ids(what: string): RandomId {
    let nth = 0;
    return (bytes) => {
      const hmac = createHmac('sha256', this.#options.apiKey).update(`seed ${what} ${nth++}`);
      return hmac.digest('hex').slice(0, 2 * bytes);
    };
  }
}

type ReportProblem = (field: string, text: string) => void;

function isKnown({ state }: Store, change: StoreChange): boolean {
  switch (change.kind) {
    case 'organisation':
      return state.organisations.has(change.value.id);
    case 'template':
      return state.templates.has(change.value.id);
    case 'key':
      return state.keys.has(change.value.id);
    case 'envelope':
      return state.envelopes.has(change.value.id);
    default:
      return false;
  }
}
