import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Prints a package manager's manifest for a release: node scripts/manifest.js TEMPLATE HOMEPAGE DOWNLOADS SHA256SUMS.
// TEMPLATE is esign.rb, winget.yaml, or scoop.json in scripts/packaging, DOWNLOADS is the base URL of the release's files, and
// SHA256SUMS is the file of that name.
const [template, homepage, downloads, sums] = process.argv.slice(2);
if (sums === undefined) {
  process.stderr.write('Usage: node scripts/manifest.js TEMPLATE HOMEPAGE DOWNLOADS SHA256SUMS\n');
  process.exit(2);
}
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
const hashes = new Map(
  readFileSync(sums, 'utf8')
    .split('\n')
    .map((line) => line.split(/ [ *]/))
    .map(([hash, file]) => [file, hash]),
);
const manifest = readFileSync(join(import.meta.dirname, 'packaging', template), 'utf8')
  .replaceAll('@HOMEPAGE@', homepage)
  .replaceAll('@DOWNLOADS@', downloads)
  .replaceAll('@VERSION@', version)
  .replaceAll(/@SHA256 (\S+)@/g, (_all, file) => {
    const hash = hashes.get(file);
    if (hash === undefined) throw new Error(`${sums} has no line for ${file}`);
    return hash;
  });
process.stdout.write(manifest);
