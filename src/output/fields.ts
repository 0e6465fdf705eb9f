import { UsageError } from '../kernel/errors.ts';
import { isRecord } from '../kernel/json.ts';
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
    value: (item) => cell(at(item, path)),
  }));
}

/** The value at a path such as `signers.0.email`; undefined where it ends early. */
function at(value: unknown, path: string): unknown {
  let current = value;
  for (const part of path.split('.')) {
    if (Array.isArray(current) && /^\d+$/.test(part)) current = current[Number(part)];
    else if (isRecord(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}

/** The value picked by --fields as an object, for --json. */
export function pick(value: unknown, columns: readonly Column<unknown>[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ key }) => [key, at(value, key) ?? null]));
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
