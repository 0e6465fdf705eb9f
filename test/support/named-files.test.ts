import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** The files that git tracks or would track, from the root. */
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => existsSync(join(root, path)) && path !== '');

const IN_BACKTICKS = /`([\w./-]+(?:\.(?:ts|js|cjs|md)|\/))`/g;
const IN_COMMENT = /(?<=^ *(?:\/?\*|\/\/).*)(?<![\w./-])([\w./-]+\.(?:ts|js|md))\b/gm;

it.each([
  ['READMEs of src', /^src\/.*README\.md$/, IN_BACKTICKS],
  ['pages of docs/contributing', /^docs\/contributing\/.*\.md$/, IN_BACKTICKS],
  ['comments', /^(src|test|scripts|bin)\/.*\.[jt]s$/, IN_COMMENT],
])('%s name only files and folders that exist', (_, naming, name) => {
  const named = files
    .filter((path) => naming.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [...text.matchAll(name)].map(([, found = '']) => ({ path, found }));
    })
    .filter(({ found }) => !found.startsWith('dist/'));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path, found }) => !exists(found, path))).toEqual([]);
});

/** Returns true if a file or folder is next to the one that names it or in the root, or if it is the end of another path. */
function exists(name: string, from: string): boolean {
  const isThere = [dirname(from), ''].some((folder) => existsSync(join(root, folder, name)));
  return isThere || files.some((path) => `/${path}/`.includes(`/${name.replace(/\/$/, '')}/`));
}
