import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/*
 * THIRD-PARTY-NOTICES.txt: the name, version, and license text of every package of which the build ships anything.
 */
const root = join(import.meta.dirname, '..');

/** What lies beside an executable. */
export const LICENSES = ['LICENSE', 'THIRD-PARTY-NOTICES.txt', 'NODE-LICENSE.txt'];

/** Puts them there; Node's own license is beside or above its program. @throws when it is not there. */
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
 * The folder of the package in the path of a file: that behind the last node_modules. A path with a colon is of a module that
 * a plugin of the bundler made, which is ours.
 */
const PACKAGE = /^[^:]*node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENSE_FILE = /^(licen[cs]e|copying|notice|copyright)([._-].*)?$/i;

/** The files that have bytes in an output of the bundler. */
export function inputsOf(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
}

/** The folders of the packages of these files. */
export function packagesOf(paths) {
  return [...new Set(paths.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))];
}

/**
 * Writes the notices of the packages in these folders (relative to the project), ordered by name and version; packages with the
 * same text share it. A subfolder with its own license is listed only if it contains one of `files`.
 * @throws when one of them has no license text.
 */
export async function writeNotices(folders, files, target = join(root, 'THIRD-PARTY-NOTICES.txt')) {
  const packages = new Map();
  for (const folder of new Set(folders)) {
    const found = await noticeOf(folder, foldersOf(files, folder));
    packages.set(`${found.name}@${found.version}`, found);
  }
  const ordered = [...packages].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, found]) => found);
  for (const one of ordered) if (one.texts.length === 0) one.texts = textsOfSibling(one, ordered);
  const missing = ordered.filter(({ texts }) => texts.length === 0).map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`No license text found for ${missing.join(', ')}, so that it can't be shipped.`);
  const named = new Map();
  for (const { name, version, license, texts } of ordered) {
    const text = texts.join('\n\n');
    named.set(text, [...(named.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...named].map(([text, names]) => `${names.join('\n')}\n\n${text}`);
  const head = 'esign-cli contains software and fonts of others, under the licenses below.';
  await writeFile(target, `${[head, ...parts].join(`\n\n${'-'.repeat(72)}\n\n`)}\n`);
}

/** The folders of these files, from that of the package down. */
function foldersOf(files, top) {
  const found = new Set([top]);
  for (const file of files)
    for (let at = dirname(file); at.startsWith(`${top}/`); at = dirname(at)) found.add(at);
  return [...found].sort();
}

async function noticeOf(folder, within) {
  const path = join(root, folder);
  const { name, version, license, repository } = JSON.parse(
    await readFile(join(path, 'package.json'), 'utf8'),
  );
  const texts = [];
  for (const one of within) {
    const names = (await readdir(join(root, one))).filter((name) => LICENSE_FILE.test(name)).sort();
    for (const name of names) texts.push(await textOf(join(root, one, name)));
  }
  return { name, version, license, repository: repository?.url ?? repository, texts };
}

/** Packages of one repository have one license: some of them are published without its text. */
function textsOfSibling({ repository, license }, packages) {
  const isSibling = (one) => one.texts.length > 0 && one.repository === repository && one.license === license;
  return repository === undefined ? [] : (packages.find(isSibling)?.texts ?? []);
}

async function textOf(path) {
  const text = await readFile(path, 'utf8');
  return text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .trim();
}
