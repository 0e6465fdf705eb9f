import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/*
 * Creates sbom.cdx.json, a CycloneDX list of the bundle's contents. It has no timestamp and no serial number, so that the same
 * sources produce the same bytes.
 */
const root = join(import.meta.dirname, '..');
const SBOM = join(root, 'sbom.cdx.json');

/** Entries of process.versions that are not versions of components. */
const NOT_COMPONENTS = ['node', 'modules', 'napi', 'unicode', 'tz', 'cldr'];

/** Writes the list of the packages in these folders (relative to the project). */
export async function writeSbom(folders) {
  const lock = await jsonOf('package-lock.json');
  const components = new Map();
  for (const folder of new Set(folders)) {
    const facts = { ...(await jsonOf(join(folder, 'package.json'))), ...lock.packages[folder] };
    const component = componentOf(facts);
    components.set(component.purl, component);
  }
  const { name, version, license } = await jsonOf('package.json');
  const { type: _, ...own } = componentOf({ name, version, license });
  const ordered = [...components.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1));
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...own } },
    components: ordered,
    dependencies: [{ ref: own.purl, dependsOn: ordered.map(({ purl }) => purl) }],
  };
  await writeFile(SBOM, textOf(sbom));
}

/** Writes the list for an executable, which also contains this version of Node. */
export async function writeExecutableSbom(node, target) {
  const { stdout } = await promisify(execFile)(node, ['-p', 'JSON.stringify(process.versions)']);
  const versions = JSON.parse(stdout);
  const purl = `pkg:generic/node@${versions.node}`;
  const inside = Object.entries(versions)
    .filter(([name, version]) => version !== '' && !NOT_COMPONENTS.includes(name))
    .sort()
    .map(([name, version]) => ({ type: 'library', 'bom-ref': `${purl}#${name}`, name, version }));
  const sbom = JSON.parse(await readFile(SBOM, 'utf8'));
  sbom.components.push({
    type: 'platform',
    'bom-ref': purl,
    name: 'node',
    version: versions.node,
    licenses: [{ license: { id: 'MIT' } }],
    purl,
    components: inside,
  });
  sbom.dependencies[0].dependsOn.push(purl);
  await writeFile(target, textOf(sbom));
}

function componentOf({ name, version, license, integrity = '' }) {
  const [, group, bare] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name);
  // In the lockfile, a hash is `sha512-` and base64.
  const hashes = [...integrity.matchAll(/sha(\d+)-(\S+)/g)].map(([, bits, value]) => ({
    alg: `SHA-${bits}`,
    content: Buffer.from(value, 'base64').toString('hex'),
  }));
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name: bare,
    version,
    ...(hashes.length > 0 ? { hashes } : {}),
    licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
    purl,
  };
}

async function jsonOf(path) {
  return JSON.parse(await readFile(join(root, path), 'utf8'));
}

function textOf(sbom) {
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}
