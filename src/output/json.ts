import type { Terminal } from './terminal.ts';

/** One JSON value, pretty on a terminal and in a pipe alike. */
export function writeJson(value: unknown, terminal: Terminal): Promise<void> {
  return terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** One object of a stream: a line, written as it happens. */
export function writeJsonLine(value: unknown, terminal: Terminal): Promise<void> {
  return terminal.out(`${JSON.stringify(value)}\n`);
}
