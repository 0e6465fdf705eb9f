import { exactJsonText } from '../kernel/text/exact-json.ts';
import { unicodeEscapes } from '../kernel/text/safe-text.ts';
import type { Terminal } from './terminal.ts';

/**
 * Characters that JSON doesn't escape but that may affect a terminal: C1 controls, line separators, and direction and invisible
 * characters.
 */
const ACTING =
  /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Serializes a value to JSON that is safe to show on a terminal. */
export function jsonText(value: unknown, space?: number): string {
  return escapeControlCharacters(exactJsonText(value, space));
}

/** Escapes characters in JSON text that could affect a terminal, as `jsonText` does. */
export function escapeControlCharacters(json: string): string {
  return json.replace(ACTING, unicodeEscapes);
}

/** Writes one JSON value, indented. */
export function writeJson(value: unknown, terminal: Terminal): Promise<void> {
  return terminal.out(`${jsonText(value, 2)}\n`);
}

/** Writes items as a single array, each as soon as it is available. `textOf` returns an item as JSON, indented. */
export async function writeJsonArray<T>(
  items: AsyncIterable<T> | Iterable<T>,
  textOf: (item: T) => string,
  terminal: Terminal,
): Promise<void> {
  let first = true;
  for await (const item of items) {
    await terminal.out(`${first ? '[' : ','}\n  ${textOf(item).replaceAll('\n', '\n  ')}`);
    first = false;
  }
  await terminal.out(first ? '[]\n' : '\n]\n');
}

/** Writes one object of a stream as a line of JSON. */
export function writeJsonLine(value: unknown, terminal: Terminal): Promise<void> {
  return terminal.out(`${jsonText(value)}\n`);
}
