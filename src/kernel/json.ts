/** Returns true for a JSON object, which is neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** Returns the value at a path such as `signers.0.email`, or undefined if it doesn't exist. As a list, a path can name keys with dots. */
export function valueAt(value: unknown, path: string | readonly string[]): unknown {
  let current = value;
  for (const part of typeof path === 'string' ? path.split('.') : path) {
    if (Array.isArray(current) && /^\d+$/.test(part)) current = current[Number(part)];
    else if (isRecord(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}

/** Looks up an untrusted key in a table. Ignores inherited properties such as `constructor`. */
export function ownValue<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** Parses JSON like JSON.parse, but returns `unknown`. @throws SyntaxError */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}

/** Parses JSON. Returns undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Returns the value with the members of its objects in the order of their names, so that equal values have equal texts. */
export function sortMembers(value: unknown): unknown {
  if (isList(value)) return value.map(sortMembers);
  if (!isRecord(value)) return value;
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, sortMembers(member)]);
}

/** Returns true if objects and lists are nested in a value deeper than this many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

/** Returns the value with null in place of the objects and lists that are nested deeper than this many levels. */
export function cutBelow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (isList(value)) return value.map((item) => cutBelow(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutBelow(one, levels - 1)]));
}
