/** A plain object out of JSON: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list out of JSON. */
export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** The value at a path such as `signers.0.email`; undefined where it ends early. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value;
  for (const part of path.split('.')) {
    if (Array.isArray(current) && /^\d+$/.test(part)) current = current[Number(part)];
    else if (isRecord(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}

/** What a table says of a word from outside. Each object knows `constructor` and its like, and none of them is in a table. */
export function entryOf<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** True when something in it lies below more than so many lists and objects. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

/** JSON.parse whose result nobody can mistake for checked data. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}
