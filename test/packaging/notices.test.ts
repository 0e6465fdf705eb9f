import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fontPackages } from '../../scripts/fonts.mjs';
import { inputsOf, packagesOf } from '../../scripts/notices.js';
import { parseJson } from '../../src/kernel/json.ts';

const root = join(import.meta.dirname, '../..');

/** CycloneDX 1.6, as far as we use it. */
const sbomSchema = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  metadata: z.object({ component: z.object({ type: z.literal('application'), purl: z.string() }) }),
  components: z.array(
    z.object({
      type: z.literal('library'),
      name: z.string(),
      version: z.string(),
      purl: z.string(),
      hashes: z.array(z.object({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) })),
      licenses: z.array(z.unknown()).min(1),
    }),
  ),
});

it('names each package whose code is in the bundle, with a license text', async () => {
  const notices = await readFile(join(root, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const name of [
    'hono',
    '@hono/node-server',
    'zod',
    'yaml',
    'conf',
    'ora',
    '@inquirer/core',
    '@libpdf/core',
    'csv-parse',
    'write-excel-file',
    'fflate',
    'cli-table3',
    'string-width',
    '@oclif/core',
    'fastest-levenshtein',
    '@aws-sdk/client-s3',
    '@smithy/core',
    'undici',
    'pdfjs-dist',
    '@expo-google-fonts/noto-sans',
    '@expo-google-fonts/caveat',
  ])
    expect(notices, name).toMatch(new RegExp(`^${name} \\d[^ ]* \\(.+\\)$`, 'm'));
  expect(notices).toContain('SIL OPEN FONT LICENSE');
  expect(notices).toContain('Apache License');
});

it('omits tree-shaken packages and our own modules', () => {
  const inputs = {
    'src/cli/main.ts': { bytesInOutput: 10 },
    'stand-in:node_modules/x/index.js': { bytesInOutput: 10 },
    'node_modules/a/node_modules/@b/c/d.js': { bytesInOutput: 10 },
    'node_modules/unused/index.js': { bytesInOutput: 0 },
  };
  const paths = inputsOf({ outputs: { 'out.js': { inputs } } });
  expect(packagesOf(paths)).toEqual(['node_modules/a/node_modules/@b/c']);
});

describe("the bundler's record and the copied files", async () => {
  const recorded: unknown = parseJson(await readFile(join(root, 'dist/.bundled.json'), 'utf8'));
  const files = z.array(z.string()).parse(recorded);
  const folders = packagesOf(files);
  const packages = [...folders, 'node_modules/pdfjs-dist', ...fontPackages];
  const notices = await readFile(join(root, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  const sbom: unknown = parseJson(await readFile(join(root, 'sbom.cdx.json'), 'utf8'));
  const listed = sbomSchema.parse(sbom);

  it('contain packages and fonts', () => {
    expect(folders.length).toBeGreaterThan(100);
    // The icons are our own.
    expect(fontPackages).toHaveLength(2);
  });

  it.each(packages)('are in the notices with their license, and in the SBOM: %s', async (folder) => {
    const text = await readFile(join(root, folder, 'package.json'), 'utf8');
    const { name, version } = z.object({ name: z.string(), version: z.string() }).parse(parseJson(text));
    expect(notices).toMatch(new RegExp(`^${name} ${version.replaceAll('.', '\\.')} \\(.+\\)$`, 'm'));
    expect(listed.components.filter(({ purl }) => purl === purlOf(name, version))).toHaveLength(1);
    const within = files.filter((file) => file.startsWith(`${folder}/`)).map((file) => dirname(file));
    for (const file of await licensesIn(new Set([folder, ...within]))) {
      const license = await readFile(file, 'utf8');
      expect(notices).toContain(
        license
          .replace(/^\uFEFF/, '')
          .replaceAll('\r\n', '\n')
          .trim(),
      );
    }
  });

  it('are the only ones in the SBOM, with hashes and licenses', () => {
    expect(listed.components).toHaveLength(new Set(listed.components.map(({ purl }) => purl)).size);
    expect(listed.components.length).toBeLessThanOrEqual(packages.length);
    expect(listed.metadata.component.purl).toMatch(/^pkg:npm\/esign-cli@/);
    expect(sbom).not.toHaveProperty('metadata.timestamp');
    expect(sbom).not.toHaveProperty('serialNumber');
  });
});

/** The license files in some folders of packages. */
async function licensesIn(folders: ReadonlySet<string>): Promise<string[]> {
  const lists = [...folders].map(async (folder) => {
    const names = await readdir(join(root, folder));
    return names
      .filter((name) => /^(licen[cs]e|notice)([._-].*)?$/i.test(name))
      .map((name) => join(root, folder, name));
  });
  return (await Promise.all(lists)).flat();
}

const purlOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
