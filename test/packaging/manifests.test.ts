import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const folder = mkdtempSync(join(tmpdir(), 'esign-manifests-'));
afterAll(() => rmSync(folder, { recursive: true }));

const systems = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];
const files = [...systems.map((name) => `esign-${name}.tar.gz`), 'esign-win32-x64.zip'];
const hash = (file: string) => Buffer.from(file).toString('hex').padStart(64, '0').slice(-64);
const sums = join(folder, 'SHA256SUMS');
writeFileSync(sums, files.map((file) => `${hash(file)}  ${file}\n`).join(''));

const fill = (template: string, list = sums) =>
  execFileSync(
    process.execPath,
    ['scripts/manifest.js', template, 'https://example.com', 'https://example.com/v1', list],
    { encoding: 'utf8', stdio: 'pipe' },
  );

describe('the manifests of a release', () => {
  it('give winget the zip, its hash, and the program in it', () => {
    expect(parse(fill('winget.yaml'))).toMatchObject({
      Installers: [
        {
          InstallerUrl: 'https://example.com/v1/esign-win32-x64.zip',
          InstallerSha256: hash('esign-win32-x64.zip'),
          NestedInstallerFiles: [{ RelativeFilePath: 'esign.exe' }],
        },
      ],
    });
  });

  it('give scoop the zip, its hash, and the program in it', () => {
    expect(JSON.parse(fill('scoop.json'))).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as unknown,
      architecture: {
        '64bit': { url: 'https://example.com/v1/esign-win32-x64.zip', hash: hash('esign-win32-x64.zip') },
      },
      bin: 'esign.exe',
    });
  });

  it('give Homebrew the archive of each system with its hash', () => {
    const formula = fill('esign.rb');
    for (const file of files.slice(0, 4))
      expect(formula).toContain(`/v1/${file}"\n      sha256 "${hash(file)}"`);
    expect(formula).not.toMatch(/@[A-Z]/);
  });

  it('are not created for a file without a hash', () => {
    const incomplete = join(folder, 'incomplete');
    writeFileSync(incomplete, readFileSync(sums, 'utf8').replace(/.*\.zip\n/, ''));
    expect(() => fill('winget.yaml', incomplete)).toThrow(/no line for esign-win32-x64\.zip/);
  });
});
