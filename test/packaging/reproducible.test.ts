import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFolder } from '../support/folder.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
beforeAll(() => {
  folder = newFolder();
});

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** The hash of each file in a folder. */
function hashesIn(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = files.map((one) => join(one.parentPath, one.name)).sort();
  return Object.fromEntries(paths.map((file) => [file.slice(path.length), hashOf(file)]));
}

// Each packs or bundles everything, which takes ten seconds of a processor that is free.
describe('the package', { timeout: 300_000 }, () => {
  it('has the same bytes each time it is packed', { tags: ['full'] }, () => {
    const [one, other] = ['one', 'other'].map((name) => {
      const target = join(folder, name);
      mkdirSync(target);
      execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', target], {
        cwd: root,
        stdio: 'ignore',
        shell: process.platform === 'win32',
      });
      return Object.values(hashesIn(target));
    });
    expect(one).toHaveLength(1);
    expect(other).toEqual(one);
  });

  it('is bundled to the same bytes again', { tags: ['full'] }, () => {
    const again = join(folder, 'again');
    const script = pathToFileURL(join(root, 'scripts/bundle.js')).href;
    const line = `const { bundle } = await import(${JSON.stringify(script)}); await bundle(${JSON.stringify(again)});`;
    execFileSync(process.execPath, ['--input-type=module', '-e', line], { cwd: root, stdio: 'ignore' });
    const made = hashesIn(again);
    expect(Object.keys(made).length).toBeGreaterThan(100);
    expect(hashesIn(join(root, 'dist'))).toMatchObject(made);
  });
});
