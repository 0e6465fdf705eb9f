import type { PathLike } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { type HashLists, type ListLine, upward } from './lists.ts';
import { MANIFEST_NAME } from './manifest.ts';

/** A file to check, or a failure in place of one. */
export interface ArchiveFile {
  /** Null for a line of a list without a file. */
  path: string | null;
  /** The path to open; undefined for a failure. */
  file: PathLike | undefined;
  /** The folder where the search for lists starts. */
  folder: string;
  /** Its name in messages, or a problem if the file is missing. */
  name: string;
  /** The user named the file itself, not a folder with it. */
  isNamed: boolean;
}

/**
 * The files at a place: a file itself, or all that the lists of a folder and its subfolders name, and their PDFs. What a list
 * above the folder names in it counts, too: it may be missing.
 * @throws UsageError when there is nothing to check.
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
  throw new UsageError(`${place} contains no PDF, and no ${MANIFEST_NAME} with a file in it.`, {
    hint: 'A download writes it: `esign envelopes download … --dir DIR`.',
  });
}

async function isFolder(place: string): Promise<boolean> {
  // An empty path would resolve to the current folder.
  const entry = await lstat(place && resolve(place)).catch((error: unknown) => {
    throw new UsageError(`Can't read ${place} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Name a folder of downloaded files, or the files.',
    });
  });
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return stat(place).then(
    (target) => target.isDirectory(),
    () => false,
  );
}

/** The candidates of a folder, each once. */
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
    // Names that aren't UTF-8 can look the same.
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

  /** Adds a line of a list above the folder when it names a file in it; `base` is one of the folder's paths. */
  addBelow(base: string, { file }: ListLine): void {
    if (typeof file !== 'string') return;
    const inside = relative(base, file);
    if (inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && resolve(base, inside) === file)
      this.addFile(join(this.#place, inside));
  }
}

/** Links to folders are not followed: they can lead anywhere, and around in circles. */
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
