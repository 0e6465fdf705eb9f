import { UsageError } from '../kernel/errors.ts';
import { isRecord, valueAt } from '../kernel/json.ts';
import type { Column } from './table.ts';

/** `id,status,signers.0.email` as columns: each a path into the resource as the service sent it. */
export function fieldColumns<T>(list: string): Column<T>[] {
  const paths = list.split(',').map((path) => path.trim());
  if (paths.some((path) => path === '')) {
    throw new UsageError(`--fields "${list}" has an empty field name.`, {
      hint: 'Write it like --fields id,status,signers.0.email.',
    });
  }
  return paths.map((path) => ({
    key: path,
    header: path.toUpperCase(),
    value: (item) => cell(valueAt(item, path)),
  }));
}

/** Enough items to know their fields from. */
const LOOKED_AT = 100;

/** Looks at items as they pass, for fields that none of them has: most likely misspelt, since the service may name new ones. */
export class FieldCheck {
  readonly #missing: Set<string>;
  readonly #known = new Set<string>();
  #seen = 0;

  constructor(paths: readonly string[]) {
    this.#missing = new Set(paths);
  }

  see(item: unknown): void {
    for (const path of this.#missing) if (!isMisspelt(item, path)) this.#missing.delete(path);
    if (isRecord(item) && this.#seen++ < LOOKED_AT) for (const key of Object.keys(item)) this.#known.add(key);
  }

  /** What to say of them; undefined when there is nothing to say. */
  notice(): string | undefined {
    if (this.#seen === 0 || this.#missing.size === 0) return undefined;
    const names = [...this.#missing].map((path) => `"${path}"`).join(', ');
    return `Nothing in this list has ${names}; there are ${[...this.#known].join(', ')}.`;
  }
}

/**
 * True when the path ends at an object that lacks its next part, or names a part of a list other than by its position; a
 * short list or a missing object proves nothing.
 */
function isMisspelt(item: unknown, path: string): boolean {
  let current = item;
  for (const part of path.split('.')) {
    if (isRecord(current) && !Object.hasOwn(current, part)) return true;
    if (Array.isArray(current) && !/^\d+$/.test(part)) return true;
    current = valueAt(current, part);
  }
  return false;
}

/** The value picked by --fields as an object, for --json. */
export function pick(value: unknown, columns: readonly Column<unknown>[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ key }) => [key, valueAt(value, key) ?? null]));
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
