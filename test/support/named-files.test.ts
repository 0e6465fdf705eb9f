import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

it('docs/contributing/reliability.md names only tests that exist', () => {
  const page = readFileSync(join(root, 'docs/contributing/reliability.md'), 'utf8');
  const named = [...page.matchAll(/`([a-z-]+\/(?:[\w./-]*))`/g)]
    .map(([, path = '']) => path.replace(/^test\//, ''))
    .filter((path) => path.endsWith('/') || path.endsWith('.test.ts'));
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(root, 'test', path)))).toEqual([]);
});
