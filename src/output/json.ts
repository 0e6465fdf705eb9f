import type { Terminal } from './terminal.ts';

/** What JSON leaves as it is and a terminal may act on: C1 controls, line separators, direction and invisible signs. */
const ACTING =
  /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** JSON that is safe to look at and parses to the very same value. */
export function jsonText(value: unknown, space?: number): string {
  return withoutActing(JSON.stringify(value, null, space));
}

/** JSON text that came from elsewhere, made as safe to look at; all else in it stays as it was. */
export function withoutActing(json: string): string {
  return json.replace(ACTING, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** One JSON value, pretty on a terminal and in a pipe alike. */
export function writeJson(value: unknown, terminal: Terminal): Promise<void> {
  return terminal.out(`${jsonText(value, 2)}\n`);
}

/** One object of a stream: a line, written as it happens. */
export function writeJsonLine(value: unknown, terminal: Terminal): Promise<void> {
  return terminal.out(`${jsonText(value)}\n`);
}
