import { UsageError } from '../kernel/errors.ts';
import { isRecord, valueAt } from '../kernel/json.ts';
import type { TableColumn } from './table.ts';

/** Parses `id,status,signers.0.email` into columns. Each is a path into the resource as the service sent it. */
export function fieldColumns<T>(list: string): TableColumn<T>[] {
  const paths = list.split(',').map((path) => path.trim());
  if (paths.some((path) => path === '')) {
    throw new UsageError(`--fields "${list}" has an empty field name.`, {
      hint: 'Example: --fields id,status,signers.0.email',
    });
  }
  return paths.map((key) => ({ key }));
}

/** The number of items whose field names are collected for the notice. */
const MAX_SAMPLED_ITEMS = 100;

/** Finds requested fields that no item has, which are most likely misspelled. */
export class FieldCheck {
  readonly #missing: Set<string>;
  readonly #known = new Set<string>();
  #seen = 0;

  constructor(paths: readonly string[]) {
    this.#missing = new Set(paths);
  }

  see(item: unknown): void {
    for (const path of this.#missing) if (!lacksField(item, path)) this.#missing.delete(path);
    if (isRecord(item) && this.#seen++ < MAX_SAMPLED_ITEMS)
      for (const key of Object.keys(item)) this.#known.add(key);
  }

  /** Returns a notice about unknown fields, if there are any. */
  notice(): string | undefined {
    if (this.#seen === 0 || this.#missing.size === 0) return undefined;
    const names = [...this.#missing].map((path) => `"${path}"`).join(', ');
    return `No item has ${names}. Fields: ${[...this.#known].join(', ')}.`;
  }
}

/**
 * Returns true if the path ends at an object that lacks its next part, or has a name where a list needs an index. A short list or
 * a missing object doesn't show that a field is misspelled.
 */
function lacksField(item: unknown, path: string): boolean {
  let current = item;
  for (const part of path.split('.')) {
    if (isRecord(current) && !Object.hasOwn(current, part)) return true;
    if (Array.isArray(current) && !/^\d+$/.test(part)) return true;
    current = valueAt(current, part);
  }
  return false;
}

/** Returns the selected fields as an object, for --json. */
export function pickFields(
  value: unknown,
  columns: readonly TableColumn<unknown>[],
): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ key }) => [key, valueAt(value, key) ?? null]));
}
