import { dirname, join, resolve } from 'node:path';
import { isForeign } from '../../kernel/files/ownership.ts';
import { isInsideFolder, MANIFEST_NAME, parseManifestLine, readManifest } from './manifest.ts';

/** A line of a hash list: the file that it names, or a problem. */
export type HashListLine =
  | { file: string; sha256: string; problem?: undefined }
  | { file?: undefined; sha256?: undefined; problem: string };

interface HashList {
  lines: readonly HashListLine[];
  /** The hashes by path. A list can name a file several times. */
  byPath: ReadonlyMap<string, readonly string[]>;
}

export interface ExpectedHash {
  sha256: string;
  dir: string;
}

const NO_LIST: HashList = { lines: [], byPath: new Map() };

/** The hash lists in every folder between a file and the root, each read once. */
export class HashLists {
  readonly #lists = new Map<string, Promise<HashList>>();
  readonly #folders: readonly string[];

  /** @param folders the folders to verify. Above them, lists of other users are ignored. */
  constructor(folders: readonly string[]) {
    this.#folders = folders.map((folder) => resolve(folder));
  }

  /** Returns the list of a folder; it is empty if the folder has none. @throws UsageError if it can't be read */
  of(dir: string): Promise<HashList> {
    let list = this.#lists.get(dir);
    if (list === undefined) {
      const isBelow = folderAndParents(dir).some((folder) => this.#folders.includes(folder));
      list = isBelow || !isForeign(join(dir, MANIFEST_NAME)) ? readList(dir) : Promise.resolve(NO_LIST);
      list.catch(() => undefined);
      this.#lists.set(dir, list);
    }
    return list;
  }

  /** Returns the hashes of a file from all lists in its folder and the folders above. */
  async expectedOf(file: string): Promise<ExpectedHash[]> {
    const path = resolve(file);
    const found: ExpectedHash[] = [];
    for (const dir of folderAndParents(dirname(path)))
      for (const sha256 of (await this.of(dir)).byPath.get(path) ?? []) found.push({ sha256, dir });
    return found;
  }
}

/** Returns a folder and all folders above it. */
export function folderAndParents(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...folderAndParents(above)];
}

async function readList(dir: string): Promise<HashList> {
  const lines = (await readManifest(dir)).flatMap((line, index) =>
    line.trim() === '' || line.startsWith('#') ? [] : [lineOf(dir, line, index + 1)],
  );
  const byPath = new Map<string, string[]>();
  for (const { file, sha256 } of lines)
    if (file !== undefined) byPath.set(file, [...(byPath.get(file) ?? []), sha256]);
  return { lines, byPath };
}

/** Reads a line. A problem names it by its number: its text may be a secret if the file isn't a list. */
function lineOf(dir: string, line: string, number: number): HashListLine {
  const entry = parseManifestLine(line);
  if (entry === undefined) return { problem: `line ${number} is invalid.` };
  const { name, sha256 } = entry;
  return isInsideFolder(name)
    ? { file: join(dir, name), sha256 }
    : { problem: `line ${number} names a file outside the folder.` };
}
