import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const REGION = /\/\/#region (\w+)\n([\s\S]*?)\n *\/\/#endregion/g;
/** An example in a doc comment, and the function below the comment. */
const EXAMPLE =
  /\n \* ```ts\n((?: \*.*\n)*?) \* ```\n(?: \*.*\n)*? \*\/\nexport (?:async )?function\*? (\w+)/g;

const regions = [...readFileSync(join(import.meta.dirname, 'examples.ts'), 'utf8').matchAll(REGION)].map(
  ([, name = '', code = '']) => [name, code.replaceAll(/^ {2}/gm, '')] as const,
);
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join('src', path), 'utf8'));
const shown = new Map(
  sources
    .flatMap((text) => [...text.matchAll(EXAMPLE)])
    .map(([, code = '', name = '']) => [name, code.trimEnd().replaceAll(/^ \* ?/gm, '')]),
);

describe('examples in doc comments', () => {
  it.each(regions)('match the type-checked code: %s', (name, code) => {
    expect(shown.get(name)).toBe(code);
  });

  it('are all type-checked', () => {
    const fences = sources.join('\n').split(' * ```ts').length - 1;
    expect(fences).toBe(regions.length);
    expect(regions.length).toBeGreaterThan(4);
  });
});
