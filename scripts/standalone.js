import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ensureBuilt } from './ensure.js';
import { copyLicenses } from './notices.js';
import { writeExecutableSbom } from './sbom.js';
import { baseNode, inject } from './sea.js';

// Creates dist/standalone/esign, a single executable with Node and the whole package. For details, see docs/contributing/releases.md.
const root = join(import.meta.dirname, '..');
const out = join(root, 'dist/standalone');
const parts = join(out, 'parts');

await ensureBuilt();
const node = await baseNode();
await rm(parts, { recursive: true, force: true });
await mkdir(parts, { recursive: true });
const files = [
  'package.json',
  'oclif.manifest.json',
  'contract/openapi.yaml',
  'contract/sandbox-openapi.yaml',
  ...(await filesIn('bin')),
];
files.push(...(await filesIn('contract/output')));
for (const name of await filesIn('dist'))
  if (!/^dist\/(standalone|types|client|\.)/.test(name)) files.push(name);
const hash = createHash('sha256');
for (const name of files) hash.update(name).update(await readFile(join(root, name)));
const contents = join(parts, 'contents.json');
await writeFile(contents, JSON.stringify({ id: hash.digest('hex').slice(0, 16), files }));
const main = join(parts, 'sea.cjs');
await build({
  entryPoints: [join(root, 'src/standalone/sea.ts')],
  outfile: main,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  minify: true,
});
const target = join(out, process.platform === 'win32' ? 'esign.exe' : 'esign');
const assets = Object.fromEntries(files.map((name) => [name, join(root, name)]));
await inject({ node, main, assets: { ...assets, 'contents.json': contents }, folder: out, target });
await copyLicenses(node, out);
await writeExecutableSbom(node, join(out, 'sbom.cdx.json'));
await rm(parts, { recursive: true, force: true });
const { stdout } = await promisify(execFile)(target, ['--version']);
const { size } = await stat(target);
process.stderr.write(`${relative(root, target)}: ${stdout.trim()}, ${(size / 1e6).toFixed(0)} MB\n`);

/** Returns the names of all files in a folder of the project, sorted, with slashes. */
async function filesIn(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
