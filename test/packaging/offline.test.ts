import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snippetsOf } from '../nightly/docs/page.ts';

/* The commands of docs/offline.md with locally built files. Missing builds are skipped. */
const root = join(import.meta.dirname, '../..');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'esign-offline-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const snippets = snippetsOf('docs/offline.md', readFileSync(join(root, 'docs/offline.md'), 'utf8'));
const textWith = (words: string) => snippets.find(({ text }) => text.includes(words))?.text ?? '';
const standalone = join(root, 'dist/standalone/esign');
const deb = join(root, 'dist/deb');

/** Runs a snippet in a folder, with no registry and an empty cache. */
function run(text: string, cwd: string, env: Record<string, string> = {}): string {
  expect(text).not.toBe('');
  const own = { PATH: process.env.PATH ?? '', HOME: cwd, npm_config_registry: 'http://127.0.0.1:9/', ...env };
  return execFileSync('bash', ['-ec', text], {
    cwd,
    env: own,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function newFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

describe.skipIf(process.platform === 'win32')('an offline installation', () => {
  it('works from the tarball', { tags: ['full'] }, () => {
    const cwd = newFolder('npm');
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', cwd], { cwd: root });
    run(textWith('npm install'), cwd, { npm_config_prefix: join(cwd, 'prefix') });
    expect(run(`'${join(cwd, 'prefix/bin/esign')}' --version`, cwd)).toContain('esign-cli/');
    const installed = readdirSync(join(cwd, 'prefix/lib/node_modules/esign-cli'));
    expect(installed).toEqual(expect.arrayContaining(['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json']));
  });

  it.skipIf(!existsSync(standalone))('works from the archive of the executable', { tags: ['full'] }, () => {
    const cwd = newFolder('executable');
    run(`tar -czf esign-linux-x64.tar.gz -C '${join(root, 'dist/standalone')}' .`, cwd);
    expect(run(textWith('tar -xzf'), cwd)).toContain('esign-cli/');
    expect(readdirSync(join(cwd, 'esign'))).toContain('sbom.cdx.json');
  });

  it.skipIf(!existsSync(deb))(
    'works from the .deb, with the dpkg database elsewhere',
    { tags: ['full'] },
    () => {
      const cwd = newFolder('deb');
      mkdirSync(join(cwd, 'root/var/lib/dpkg'), { recursive: true });
      for (const name of ['status', 'available']) run(`touch root/var/lib/dpkg/${name}`, cwd);
      run(`cp '${deb}'/*.deb .`, cwd);
      const elsewhere = 'dpkg --root="$PWD/root" --force-not-root --force-depends --force-script-chrootless';
      run(textWith('dpkg -i').replace('dpkg', elsewhere), cwd);
      expect(run('root/usr/bin/esign --version', cwd)).toContain('esign-cli/');
    },
  );
});
