import { readFile } from 'node:fs/promises';
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
const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      license: z.string().optional(),
      dev: z.boolean().optional(),
      resolved: z.string().optional(),
    }),
  ),
});

async function lockedPackages() {
  const text = await readFile(join(import.meta.dirname, '../package-lock.json'), 'utf8');
  return Object.entries(lockfile.parse(JSON.parse(text)).packages).filter(([path]) => path !== '');
}

/** `MIT OR Apache-2.0` needs one that is free, `MIT AND ISC` each. */
function isFree(licence: string): boolean {
  const bare = licence.replace(/[()]/g, '');
  if (bare.includes(' AND ')) return bare.split(' AND ').every((one) => FREE.has(one.trim()));
  return bare.split(' OR ').some((one) => FREE.has(one.trim()));
}

it('every package that is shipped may be shipped', async () => {
  const shipped = (await lockedPackages()).filter(([, facts]) => facts.dev !== true);
  expect(shipped.length).toBeGreaterThan(50);
  const other = shipped.filter(([, { license }]) => !isFree(license ?? 'none stated'));
  expect(other.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
});

it('the lockfile names no registry', async () => {
  expect((await lockedPackages()).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
