import type { PathLike } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { type HashLists, type ListLine, upward } from './lists.ts';
import { MANIFEST_NAME } from './manifest.ts';

/** A file to check, or the failure that prevents checking it. */
export interface ArchiveFile {
  /** Null for a line of a hash list that names no file. */
  path: string | null;
  /** The path to open; undefined for a failure. */
  file: PathLike | undefined;
  /** The folder where the search for hash lists starts. */
  folder: string;
  /** The file's name in messages, or the problem if the file is missing. */
  name: string;
  /** True if the user named the file itself, not a folder that contains it. */
  isNamed: boolean;
}

/**
 * Returns the files to check at a place: the file itself, or, for a folder, every file listed in the hash lists of the folder and its
 * subfolders, plus their PDFs. Files below the folder that a list above it names are included, because they may be missing.
 * @throws UsageError if there is nothing to check.
 */
export async function candidatesAt(place: string, lists: HashLists): Promise<ArchiveFile[]> {
  if (!(await isFolder(place)))
    return [{ path: place, file: place, folder: dirname(place), name: place, isNamed: true }];
  const found = new Found(place);
  await addFolder(place, found, lists);
  for (const base of new Set([resolve(place), await realpath(place)]))
    for (const dir of upward(dirname(base)))
      for (const line of (await lists.of(dir)).lines) found.addBelow(base, line);
  const candidates = found.candidates;
  if (candidates.length > 0) return candidates;
  throw new UsageError(`${place} contains no PDFs, and no ${MANIFEST_NAME} that lists files.`, {
    hint: '`esign envelopes download ID --dir DIR` writes both.',
  });
}

async function isFolder(place: string): Promise<boolean> {
  // An empty path would resolve to the current folder.
  const entry = await lstat(place && resolve(place)).catch((error: unknown) => {
    throw new UsageError(`Can't read ${place} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Pass a folder of downloaded files, or single files.',
    });
  });
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return stat(place).then(
    (target) => target.isDirectory(),
    () => false,
  );
}

/** Collects the files to check in a folder, each one once. */
class Found {
  readonly #place: string;
  readonly #byPath = new Map<string, ArchiveFile>();
  readonly #failures: ArchiveFile[] = [];

  constructor(place: string) {
    this.#place = place;
  }

  get candidates(): ArchiveFile[] {
    return [...this.#byPath.values(), ...this.#failures];
  }

  addFile(path: string, file: PathLike = path): void {
    // Different names that aren't UTF-8 can decode to the same text.
    const key = typeof file === 'string' ? path : `\0${file.toString('latin1')}`;
    if (this.#byPath.has(key)) return;
    const name = relative(this.#place, path).split(sep).join('/');
    this.#byPath.set(key, { path, file, folder: dirname(path), name, isNamed: false });
  }

  addFailure(path: string | null, name: string): void {
    this.#failures.push({ path, file: undefined, folder: this.#place, name, isNamed: false });
  }

  addLine(dir: string, line: ListLine): void {
    if (line.file === undefined) {
      const where = relative(this.#place, join(dir, MANIFEST_NAME)).split(sep).join('/');
      this.addFailure(null, `${where}: ${line.problem}`);
    } else this.addFile(join(dir, line.entry.name), line.file);
  }

  /** Adds a line of a list above the folder if it names a file in the folder; `base` is one of the folder's paths. */
  addBelow(base: string, { file }: ListLine): void {
    if (typeof file !== 'string') return;
    const inside = relative(base, file);
    if (inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && resolve(base, inside) === file)
      this.addFile(join(this.#place, inside));
  }
}

/** Adds a folder and its subfolders. Links to folders are not followed, because they can lead anywhere and form cycles. */
async function addFolder(dir: string, found: Found, lists: HashLists): Promise<void> {
  for (const line of (await lists.of(resolve(dir))).lines) found.addLine(dir, line);
  const entries = await readdir(dir, { withFileTypes: true, encoding: 'buffer' }).catch((error: unknown) =>
    found.addFailure(dir, `${dir} can't be read (${diskReason(error)}).`),
  );
  const sorted = [...(entries ?? [])].sort((a, b) => Buffer.compare(a.name, b.name));
  for (const entry of sorted) {
    const name = entry.name.toString('utf8');
    const path = join(dir, name);
    const isText = Buffer.from(name, 'utf8').equals(entry.name);
    if (/\.pdf$/i.test(name))
      found.addFile(path, isText ? path : Buffer.concat([Buffer.from(`${dir}${sep}`), entry.name]));
    if (!entry.isDirectory()) continue;
    if (isText) await addFolder(path, found, lists);
    else found.addFailure(path, `${path} can't be read (its name is not UTF-8).`);
  }
}
