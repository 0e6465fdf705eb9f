import { createHmac } from 'node:crypto';
import type { ErrorDetails } from '../../../kernel/errors.ts';
import { SCOPES } from '../../../kernel/vocabulary.ts';
import type { SeedResult } from '../../embed-model.ts';
import type { TemplateRecord } from '../../model.ts';
import { ApiError, invalidBody } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import { makeKey, type RandomId } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';
import { seededEnvelope } from './envelopes.ts';
import type { CheckedSeed } from './schema.ts';
import { seededTemplate } from './templates.ts';

interface SeedContext extends ServiceParts {
  /** The API key from which IDs and links are derived, so that they are the same for the same seed in the same sandbox. */
  apiKey: string;
}

const FIRST_TEMPLATE = 'tmpl_nda';

/** A seed that is being loaded. */
interface Loading extends SeedContext {
  seed: CheckedSeed;
  /** Reports problems with a field. */
  report: (field: string, ...texts: string[]) => void;
}

/**
 * Loads a seed into the sandbox. Anything with the same ID is replaced; with `missingOnly`, it is kept. An invalid seed changes nothing.
 * @throws ApiError VALIDATION_ERROR with the problems by field.
 */
export function loadSeed(seed: CheckedSeed, context: SeedContext, { missingOnly = false } = {}): SeedResult {
  const { store } = context;
  const details = new Map<string, string[]>();
  const report = (field: string, ...texts: string[]) =>
    details.set(field, [...(details.get(field) ?? []), ...texts]);
  const loading: Loading = { ...context, seed, report };
  const templates = templatesIn(loading);
  const made = keysIn(loading);
  const envelopes = envelopesIn(loading, templates);
  if (details.size > 0) throw invalidBody(Object.fromEntries(details), 'The seed is not valid');
  const { state } = store;
  const isWanted = (known: ReadonlyMap<string, unknown>, id: string) => !missingOnly || !known.has(id);
  const first: StoreChange[] = [];
  for (const value of templates.values())
    if (isWanted(state.templates, value.id)) first.push({ kind: 'template', value });
  for (const { record } of made)
    if (isWanted(state.keys, record.id)) first.push({ kind: 'key', value: record });
  const wanted = envelopes.filter(({ id }) => isWanted(state.envelopes, id));
  store.commit([...first, ...wanted.flatMap(({ changes }) => changes)]);
  return {
    templates: templates.size,
    envelopes: envelopes.length,
    keys: made.map(({ key, record: { id, orgId, scopes, expiresAt } }) => ({
      id,
      organisation: orgId,
      key,
      scopes,
      expiresAt,
    })),
  };
}

function templatesIn({ seed, store, clock, report }: Loading): Map<string, TemplateRecord> {
  const at = isoTime(clock.now());
  const made = new Map<string, TemplateRecord>();
  for (const [index, wanted] of (seed.templates ?? []).entries()) {
    if (made.has(wanted.id)) report(`templates.${index}.id`, `${wanted.id} is listed twice`);
    made.set(wanted.id, seededTemplate(wanted, store.state.templates.get(wanted.id), at));
  }
  return made;
}

function keysIn(loading: Loading) {
  return (loading.seed.keys ?? []).map(({ organisation, scopes = SCOPES, expiresAt }, index) => {
    const orgId = organisation ?? loading.store.state.orgId;
    const facts = { orgId, name: `Key ${index + 1} in the seed`, description: '', scopes, expiresAt };
    return makeKey(facts, loading.clock.now(), stableIds(`key ${index} ${orgId}`, loading.apiKey));
  });
}

function envelopesIn(
  loading: Loading,
  templates: ReadonlyMap<string, TemplateRecord>,
): { id: string; changes: StoreChange[] }[] {
  const { seed, store, clock, report } = loading;
  const seen = new Set<string>();
  const now = clock.now();
  return (seed.envelopes ?? []).flatMap((wanted, index) => {
    const field = `envelopes.${index}`;
    if (seen.has(wanted.id)) report(`${field}.id`, `${wanted.id} is listed twice`);
    seen.add(wanted.id);
    const orgId = wanted.organisation ?? store.state.orgId;
    const id = wanted.template ?? seed.templates?.[0]?.id ?? FIRST_TEMPLATE;
    const template = templates.get(id) ?? store.state.templates.get(id);
    if (template === undefined) {
      report(`${field}.template`, `Template ${id} not found`);
      return [];
    }
    const randomId = envelopeIds(`envelope ${wanted.id}`, loading);
    try {
      const changes = seededEnvelope(wanted, { orgId, template, now, randomId });
      return [{ id: wanted.id, changes }];
    } catch (error) {
      for (const [name, texts] of Object.entries(detailsOf(error))) report(`${field}.${name}`, ...texts);
      return [];
    }
  });
}

/** Returns the problems by field of an API error. Any other error is thrown. */
function detailsOf(error: unknown): ErrorDetails {
  if (error instanceof ApiError && error.details) return error.details;
  throw error;
}

/** Returns IDs that stay the same if the envelope is loaded again. */
function envelopeIds(what: string, { counted, apiKey }: Loading): RandomId {
  const stable = stableIds(what, apiKey);
  if (counted === undefined) return stable;
  let nth = 0;
  // The envelope itself has the ID in the seed.
  return (bytes, kind) =>
    kind === undefined || kind === 'env' ? stable(bytes) : counted.named(`${what} ${nth++}`, kind);
}

/** Returns IDs that look like any others and can't be guessed without the key of this sandbox. */
function stableIds(what: string, apiKey: string): RandomId {
  let nth = 0;
  return (bytes) => {
    const hmac = createHmac('sha256', apiKey).update(`seed ${what} ${nth++}`);
    return hmac.digest('hex').slice(0, 2 * bytes);
  };
}
