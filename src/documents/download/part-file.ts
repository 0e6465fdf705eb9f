import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  ftruncateSync,
  lstatSync,
  openSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../../kernel/errors.ts';
import { retryWhileInUse } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { openRegular } from '../../kernel/files/regular-file.ts';
import { localError } from '../archive/local-error.ts';
import { SignatureSearch } from '../seal/signature-search.ts';

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const sync = promisify(fsync);

/** Opens the file that an earlier run left. Removes it and returns undefined if somebody else could write to it during the download. */
function openEarlier(path: string): number | undefined {
  const isOnlyOurs = ({ uid, nlink }: Stats) => uid === (process.geteuid?.() ?? uid) && nlink === 1;
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  if (!entry.isFile() || isOnlyOurs(entry)) {
    const found = openRegular(path, O_RDWR | O_NOFOLLOW);
    if (found === undefined || isOnlyOurs(fstatSync(found))) return found;
    closeSync(found);
  }
  rmSync(path, { force: true });
  return undefined;
}

/**
 * A file that is being downloaded: `NAME.part`. A later run continues with the bytes that an interrupted one left, and hashes all of them
 * again. Writes are synchronous because handing a write to another thread takes longer than the write itself.
 */
export class PartFile {
  /** The number of bytes in the file. */
  length: number;
  readonly path: string;
  readonly file: number;
  /** Finds signatures in the bytes that are written; undefined if an earlier run wrote the first ones. */
  #signatures: SignatureSearch | undefined;

  private constructor(path: string, file: number) {
    this.path = path;
    this.file = file;
    this.length = fstatSync(file).size;
    if (this.length === 0) this.#signatures = new SignatureSearch();
  }

  /** False if the file contains no signature. */
  get mayBeSigned(): boolean {
    return this.#signatures?.found ?? true;
  }

  /** Opens or creates a part file, and its folder if needed. @throws the system's error if it can't be opened or isn't a file. */
  static open(path: string): PartFile {
    for (let hasFolder = false; ; hasFolder = true) {
      try {
        return new PartFile(path, openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
      } catch (error) {
        if (codeOf(error) === 'EEXIST') {
          const found = openEarlier(path);
          if (found !== undefined) return new PartFile(path, found);
        } else if (codeOf(error) !== 'ENOENT' || hasFolder) throw error;
        else makeFolder(dirname(path));
      }
    }
  }

  /** Appends bytes. @throws StorageError STORAGE_LOCAL, so that a full disk isn't blamed on the bucket or retried. */
  write(chunk: Uint8Array): void {
    try {
      for (let done = 0; done < chunk.byteLength; )
        done += writeSync(this.file, chunk, done, chunk.byteLength - done, this.length + done);
    } catch (error) {
      throw localError(error, this.path);
    }
    this.length += chunk.byteLength;
    this.#signatures?.add(chunk);
  }

  /** Removes all bytes. */
  restart(): void {
    ftruncateSync(this.file, 0);
    this.length = 0;
    this.#signatures = new SignatureSearch();
  }

  /** Makes the bytes durable and gives them their final name. */
  async publish(finalPath: string): Promise<void> {
    await sync(this.file);
    await retryWhileInUse(() => rename(this.path, finalPath));
  }

  close(): void {
    closeSync(this.file);
  }

  discard(): void {
    rmSync(this.path, { force: true });
  }
}
