import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/*
 * Creates THIRD-PARTY-NOTICES.txt: the name, version, and license text of every package that is part of the build.
 */
const root = join(import.meta.dirname, '..');

/** The files that are shipped next to an executable. */
export const LICENSES = ['LICENSE', 'THIRD-PARTY-NOTICES.txt', 'NODE-LICENSE.txt'];

/** Copies these files. Node's license is in the folder of its executable or the one above. @throws if it isn't found. */
export async function copyLicenses(node, folder) {
  for (const name of ['LICENSE', 'THIRD-PARTY-NOTICES.txt'])
    await copyFile(join(root, name), join(folder, name));
  const program = dirname(await realpath(node));
  const license = ['LICENSE', '../LICENSE']
    .map((name) => join(program, name))
    .find((path) => existsSync(path));
  if (license === undefined)
    throw new Error(`The license of Node was not found next to ${node}, so it can't be shipped.`);
  await copyFile(license, join(folder, 'NODE-LICENSE.txt'));
}

/**
 * Matches the package's folder in the path of a file, after the last node_modules. A path with a colon belongs to a module created
 * by one of our bundler plugins.
 */
const PACKAGE = /^[^:]*node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENSE_FILE = /^(licen[cs]e|copying|notice|copyright)([._-].*)?$/i;

/** Returns the files that contribute bytes to an output of the bundler. */
export function inputsOf(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
}

/** Returns the folders of the packages that these files belong to. */
export function packagesOf(paths) {
  return [...new Set(paths.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))];
}

/**
 * Writes the notices for the packages in these folders (relative to the project), ordered by name and version. Packages with the
 * same text share it. A subfolder with its own license is listed only if it contains one of `files`.
 * @throws if a package has no license text.
 */
export async function writeNotices(folders, files) {
  const packages = new Map();
  for (const folder of new Set(folders)) {
    const found = await noticeOf(folder, foldersOf(files, folder));
    packages.set(`${found.name}@${found.version}`, found);
  }
  const named = new Map();
  for (const id of [...packages.keys()].sort()) {
    const { name, version, license, text = textOfSibling(packages.get(id), packages) } = packages.get(id);
    if (!text) throw new Error(`No license text found for ${name}, so that it can't be shipped.`);
    named.set(text, [...(named.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...named].map(([text, names]) => `${names.join('\n')}\n\n${text}`);
  const head = 'esign-cli contains software and fonts of others, under the licenses below.';
  await writeFile(
    join(root, 'THIRD-PARTY-NOTICES.txt'),
    `${[head, ...parts].join(`\n\n${'-'.repeat(72)}\n\n`)}\n`,
  );
}

/** Returns the folders of these files, starting with the package's. */
function foldersOf(files, top) {
  const found = new Set([top]);
  for (const file of files)
    for (let at = dirname(file); at.startsWith(`${top}/`); at = dirname(at)) found.add(at);
  return [...found].sort();
}

async function noticeOf(folder, within) {
  const { name, version, license, repository } = JSON.parse(
    await readFile(join(root, folder, 'package.json'), 'utf8'),
  );
  const texts = [];
  for (const one of within)
    for (const file of (await readdir(join(root, one))).filter((file) => LICENSE_FILE.test(file)).sort())
      texts.push((await readFile(join(root, one, file), 'utf8')).replaceAll('\r\n', '\n').trim());
  const text = texts.length > 0 ? texts.join('\n\n') : undefined;
  return { name, version, license, repository: repository?.url ?? repository, text };
}

/** Packages from one repository share a license, but some are published without its text. */
function textOfSibling({ repository, license }, packages) {
  if (repository === undefined) return undefined;
  const isSibling = (one) => one.text && one.repository === repository && one.license === license;
  return [...packages.values()].find(isSibling)?.text;
}
