import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** A command with a value in it, such as `esign envelopes get ${id}`. */
const UNQUOTED =
  /esign (?:api|bulk|documents|envelopes|events|index|profiles|sandbox|templates|find|schema) [^`'"\n]*\$\{/;

it('quotes every command that is printed for copying: kernel/text/shell-words.ts builds it', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name));
  const lines = sources.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => (UNQUOTED.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(lines).toEqual([]);
});
