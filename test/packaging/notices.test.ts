import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packagesIn } from '../../scripts/notices.js';

const root = join(import.meta.dirname, '../..');

it('the notices name each package whose code is in the bundle, with a license text', async () => {
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
    'csv-stringify',
    'cli-table3',
    'string-width',
    'harfbuzzjs',
    '@oclif/core',
    'bidi-js',
    'fastest-levenshtein',
    '@aws-sdk/client-s3',
    '@smithy/core',
    'undici',
    'pdfjs-dist',
    '@fontsource/noto-sans-sc',
    '@expo-google-fonts/caveat',
  ])
    expect(notices, name).toMatch(new RegExp(`^${name} \\d[^ ]* \\(.+\\)$`, 'm'));
  expect(notices).toContain('SIL OPEN FONT LICENSE');
  expect(notices).toContain('Apache License');
});

it('they leave out what was shaken off, and modules of our own', () => {
  const inputs = {
    'src/cli/main.ts': { bytesInOutput: 10 },
    'stand-in:node_modules/x/index.js': { bytesInOutput: 10 },
    'node_modules/a/node_modules/@b/c/d.js': { bytesInOutput: 10 },
    'node_modules/unused/index.js': { bytesInOutput: 0 },
  };
  expect(packagesIn({ outputs: { 'out.js': { inputs } } })).toEqual(['node_modules/a/node_modules/@b/c']);
});
