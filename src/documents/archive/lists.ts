import { type PathLike, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { type ManifestEntry, parseLine, readManifest, staysInside } from './manifest.ts';

/** A line of a hash list: the file that it names, or a problem. */
export type ListLine =
  | { file: PathLike; entry: ManifestEntry; problem?: undefined }
  | { file?: undefined; problem: string };

export interface HashList {
  dir: string;
  lines: readonly ListLine[];
  /** Returns the hashes by file identity, whichever name the list uses for the file. */
  byIdentity(): ReadonlyMap<string, readonly string[]>;
}

export interface ExpectedHash {
  sha256: string;
  dir: string;
}

/** The hash lists in every folder between a file and the root, each read once. */
export class HashLists {
  readonly #lists = new Map<string, Promise<HashList>>();

  /** Returns the list of a folder; it is empty if the folder has none. @throws UsageError if it can't be read */
  of(dir: string): Promise<HashList> {
    let list = this.#lists.get(dir);
    if (list === undefined) {
      list = readList(dir);
      list.catch(() => undefined);
      this.#lists.set(dir, list);
    }
    return list;
  }

  /** Returns the hashes of a file from all lists in its folder and the folders above, even if the file is a link. */
  async expectedOf(file: PathLike, folder: string): Promise<ExpectedHash[]> {
    const identity = identityOf(file);
    const found: ExpectedHash[] = [];
    for (const dir of await foldersAbove(file, folder)) {
      const list = await this.of(dir);
      if (list.lines.length === 0) continue;
      for (const sha256 of list.byIdentity().get(identity) ?? []) found.push({ sha256, dir });
    }
    return found;
  }
}

/** Returns a folder and all folders above it. */
export function folderAndParents(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...folderAndParents(above)];
}

async function foldersAbove(file: PathLike, folder: string): Promise<Set<string>> {
  const real = await realpath(file).catch(() => undefined);
  return new Set([
    ...folderAndParents(resolve(folder)),
    ...(real === undefined ? [] : folderAndParents(dirname(real))),
  ]);
}

async function readList(dir: string): Promise<HashList> {
  const lines = (await readManifest(dir))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => lineOf(dir, line));
  let byIdentity: Map<string, string[]> | undefined;
  return { dir, lines, byIdentity: () => (byIdentity ??= indexed(lines)) };
}

function lineOf(dir: string, line: string): ListLine {
  const entry = parseLine(line);
  if (entry === undefined) return { problem: `Invalid line: ${Buffer.from(line, 'latin1').toString()}` };
  const { name, bytes } = entry;
  if (!staysInside(name)) return { problem: `${name} is outside the folder.` };
  const file = bytes === undefined ? join(dir, name) : Buffer.concat([Buffer.from(`${dir}${sep}`), bytes]);
  return { file, entry };
}

function indexed(lines: readonly ListLine[]): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const line of lines) {
    if (line.file === undefined) continue;
    const identity = identityOf(line.file);
    const hashes = index.get(identity) ?? [];
    hashes.push(line.entry.sha256);
    index.set(identity, hashes);
  }
  return index;
}

/** Returns the same text for every name of a file: other spellings, links, and letter case if the disk ignores it. */
function identityOf(file: PathLike): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? `missing ${file.toString()}` : `${stat.dev}:${stat.ino}`;
}
