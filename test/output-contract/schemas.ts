import * as z from 'zod/mini';
import { SHAPES, SHARED, type Shape } from './shapes.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Returns the name of a command's schema: `envelopes-list`. */
export const nameOf = (id: string): string => id.replaceAll(':', '-');

/** Every schema by name: shared ones, and one for each command. */
export function outputSchemas(): Record<string, JsonSchema> {
  const parts = generated();
  const found: Record<string, JsonSchema> = {};
  for (const name of Object.keys(SHARED)) found[name] = { ...parts[name], title: name };
  for (const [id, shapes] of Object.entries(SHAPES)) {
    found[nameOf(id)] = {
      $schema: DRAFT,
      $id: `${nameOf(id)}.json`,
      title: `esign ${id.replaceAll(':', ' ')} --json`,
      anyOf: Object.entries(shapes).map(([occasion, shape]) => ({
        description: inWords(shape),
        'x-form': shape.form === 'lines' ? 'jsonl' : 'json',
        ...bodyOf(parts, shape, `${id}/${occasion}`),
      })),
    };
  }
  return found;
}

/** Returns the schema of one case: a reference to a shared one, or its own. */
function bodyOf(parts: Record<string, JsonSchema>, { schema }: Shape, own: string): JsonSchema {
  const shared = Object.keys(SHARED).find((name) => SHARED[name] === schema);
  if (shared !== undefined) return { $ref: `${shared}.json` };
  const { $schema: _draft, $id: _id, ...rest } = parts[own] ?? {};
  return rest;
}

function inWords({ form, when }: Shape): string {
  const lines = form === 'lines' ? 'JSON Lines, this on each line' : 'one value';
  return when === undefined ? lines : `${when}: ${lines}`;
}

function generated(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SHARED)) registry.add(schema, { id });
  for (const [id, shapes] of Object.entries(SHAPES))
    for (const [occasion, { schema }] of Object.entries(shapes))
      if (!registry.has(schema)) registry.add(schema, { id: `${id}/${occasion}` });
  const { schemas } = z.toJSONSchema(registry, {
    // An input schema allows further properties: a later version may add some.
    io: 'input',
    uri: (id) => `${id}.json`,
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
      if (jsonSchema.type !== 'integer') return;
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    },
  });
  return schemas;
}
