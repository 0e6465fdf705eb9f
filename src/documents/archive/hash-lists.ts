import { dirname, join, resolve } from 'node:path';
import { parseLine, readManifest, staysInside } from './manifest.ts';

/** A line of a hash list: the file that it names, or a problem. */
export type ListLine =
  | { file: string; sha256: string; problem?: undefined }
  | { file?: undefined; sha256?: undefined; problem: string };

interface HashList {
  lines: readonly ListLine[];
  /** The hashes by path. A list can name a file several times. */
  byPath: ReadonlyMap<string, readonly string[]>;
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
  const lines = (await readManifest(dir))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => lineOf(dir, line));
  const byPath = new Map<string, string[]>();
  for (const { file, sha256 } of lines)
    if (file !== undefined) byPath.set(file, [...(byPath.get(file) ?? []), sha256]);
  return { lines, byPath };
}

function lineOf(dir: string, line: string): ListLine {
  const entry = parseLine(line);
  if (entry === undefined) return { problem: `Invalid line: ${Buffer.from(line, 'latin1').toString()}` };
  const { name, sha256 } = entry;
  return staysInside(name)
    ? { file: join(dir, name), sha256 }
    : { problem: `${name} is outside the folder.` };
}
