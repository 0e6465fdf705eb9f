import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, parseJson } from '../../kernel/json.ts';

/** Returns the JSON Schema of a command's output with --json. Shared parts are in `$defs`. */
export function outputSchemaOf(root: string, id: string): Record<string, unknown> {
  const defs: Record<string, unknown> = {};
  const { $id: _, ...schema } = bundleSchema(read(root, `${id.replaceAll(':', '-')}.json`), root, defs);
  return Object.keys(defs).length === 0 ? schema : { ...schema, $defs: defs };
}

/** Replaces references to other files (`envelope.json`) with references to `defs`, and adds those schemas to `defs`. */
function bundleSchema(
  schema: Record<string, unknown>,
  root: string,
  defs: Record<string, unknown>,
): Record<string, unknown> {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] =>
    key === '$ref' && typeof value === 'string'
      ? [key, pointerTo(value, root, defs)]
      : [key, partOf(value, root, defs)],
  );
  return Object.fromEntries(entries);
}

function partOf(value: unknown, root: string, defs: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => partOf(one, root, defs));
  return isRecord(value) ? bundleSchema(value, root, defs) : value;
}

function pointerTo(file: string, root: string, defs: Record<string, unknown>): string {
  const name = file.replace(/\.json$/, '');
  if (!(name in defs)) {
    // Set before the schema is read, because it may refer to itself.
    defs[name] = {};
    const { $schema: _draft, $id: _id, title: _title, ...rest } = read(root, file);
    defs[name] = bundleSchema(rest, root, defs);
  }
  return `#/$defs/${name}`;
}

function read(root: string, file: string): Record<string, unknown> {
  const value = parseJson(readFileSync(join(root, 'contract/output', file), 'utf8'));
  if (!isRecord(value)) throw new Error(`contract/output/${file} is not a schema`);
  return value;
}
