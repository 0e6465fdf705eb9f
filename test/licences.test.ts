import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';

const FREE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'OFL-1.1',
  'Zlib',
]);
/** The package in `from 'name/part'` and `import('name')`. */
const IMPORTED = /(?:from |import\()'((?:@[\w.-]+\/)?[a-z][\w.-]*)[^']*'/g;
const FONTS = /^node_modules\/(@fontsource|@expo-google-fonts)\//;
const root = join(import.meta.dirname, '..');
const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      license: z.string().optional(),
      resolved: z.string().optional(),
      dependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

async function lockedPackages() {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8');
  return lockfile.parse(JSON.parse(text)).packages;
}

async function sourceFiles(): Promise<string[]> {
  const names = await readdir(join(root, 'src'), { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(root, 'src', name));
}

/** The packages whose code or fonts the build puts into dist: the imports of the sources, and their dependencies. */
async function shippedPackages(): Promise<Map<string, string>> {
  const packages = await lockedPackages();
  const shipped = new Map<string, string>();
  const take = (name: string, from: string): void => {
    const path = packages[`${from}/node_modules/${name}`]
      ? `${from}/node_modules/${name}`
      : `node_modules/${name}`;
    const facts = packages[path];
    if (facts === undefined || shipped.has(path)) return;
    shipped.set(path, facts.license ?? 'none stated');
    for (const needed of Object.keys(facts.dependencies ?? {})) take(needed, path);
  };
  for (const path of await sourceFiles())
    for (const [, name = ''] of (await readFile(path, 'utf8')).matchAll(IMPORTED)) take(name, '');
  for (const path of Object.keys(packages)) if (FONTS.test(path)) take(path.replace('node_modules/', ''), '');
  return shipped;
}

/** `MIT OR Apache-2.0` needs one allowed license, `MIT AND ISC` needs both. */
function isFree(license: string): boolean {
  const bare = license.replace(/[()]/g, '');
  if (bare.includes(' AND ')) return bare.split(' AND ').every((one) => FREE.has(one.trim()));
  return bare.split(' OR ').some((one) => FREE.has(one.trim()));
}

it('allows the license of every shipped package', async () => {
  const shipped = await shippedPackages();
  for (const one of ['undici', 'zod', '@oclif/core', '@libpdf/core'])
    expect(shipped.has(`node_modules/${one}`), one).toBe(true);
  expect([...shipped].filter(([, license]) => !isFree(license))).toEqual([]);
});

it('the lockfile names no registry', async () => {
  const named = Object.values(await lockedPackages()).filter(({ resolved }) => resolved !== undefined);
  expect(named).toEqual([]);
});
