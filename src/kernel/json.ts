/** A plain object out of JSON: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list out of JSON. */
export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** JSON.parse whose result nobody can mistake for checked data. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}
