import { closeSync, constants, fstatSync, openSync, statfsSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeLine } from '../journal/line.ts';
import { shortDigest } from '../kernel/digest.ts';
import { codeOf } from '../kernel/errors.ts';
import { makeFolder } from '../kernel/files/folder.ts';
import type { Entry, Remark } from './entry.ts';

/** Whose envelopes an index knows. What one key sees is never shown to another. */
export interface IndexScope {
  baseUrl: string;
  profile: string | undefined;
  /** The key, or where it comes from. */
  apiKey: string;
}

/** The first line: a file of another version is made anew. */
export const HEADER = { journal: 'envelope-index', version: 1 };
/** A file is made only with its first line in it. */
const APPEND = constants.O_WRONLY | constants.O_APPEND;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** Of a disk that is nearly full the last bytes are left to the journals: an index can be made anew, they can't. */
const LEFT_FREE = 16 * 1024 * 1024;

/** The folder of all indexes. */
export function indexFolder(stateDir: string): string {
  return join(stateDir, 'index');
}

/** How the names of a profile's indexes begin: it has another one for each key and address. */
export function indexPrefix(profile: string | undefined): string {
  return `${shortDigest(profile ?? '')}-`;
}

/** The file of a scope. Its name is a checksum: no address, profile or key stands in it. */
export function indexPath(stateDir: string, { baseUrl, profile, apiKey }: IndexScope): string {
  const name = shortDigest(JSON.stringify([baseUrl, apiKey]));
  return join(indexFolder(stateDir), `${indexPrefix(profile)}${name}.jsonl`);
}

/** The end of the file of an index, to which any number of processes append at once. Every command does: it is all that one needs. */
export class IndexWriter {
  readonly #path: string;
  readonly #stateDir: string;

  constructor(stateDir: string, scope: IndexScope) {
    this.#stateDir = stateDir;
    this.#path = indexPath(stateDir, scope);
  }

  /**
   * Appends lines, and returns how long they are and the file is, in bytes. A process that is killed meanwhile leaves at
   * most a torn one.
   */
  append(entries: readonly (Entry | Remark)[]): { added: number; size: number } {
    if (isNearlyFull(this.#stateDir)) throw new Error('the disk is nearly full');
    // A line that was torn ends here and takes none of these with it.
    const text = `\n${entries.map(writeLine).join('')}`;
    const added = Buffer.byteLength(text);
    try {
      return { added, size: this.#write(APPEND, text) };
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      makeFolder(dirname(this.#path), 0o700);
      this.#create();
      return { added, size: this.#write(APPEND, text) };
    }
  }

  #create(): void {
    try {
      this.#write(CREATE, writeLine(HEADER));
    } catch (error) {
      // Another process was first.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }

  #write(mode: number, text: string): number {
    const file = openSync(this.#path, mode, 0o600);
    try {
      writeSync(file, text);
      return fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  }
}

function isNearlyFull(folder: string): boolean {
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    // Some file systems don't tell.
    return blocks > 0 && bavail * bsize < LEFT_FREE;
  } catch {
    return false;
  }
}
