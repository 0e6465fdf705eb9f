import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Envelope } from '../../api/resource-types.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { codeOf } from '../../kernel/errors.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { openRegular } from '../../kernel/files/regular-file.ts';
import { checksummedLine, writeLine } from '../../lines/line.ts';
import { entryOf, type IndexEvent } from './entry.ts';

/** The account of an index. What one key can see is never shown to another. */
export interface IndexScope {
  baseUrl: string;
  profile: string | undefined;
  /** The key, or where it comes from. */
  apiKey: string;
}

/** The first line. A file of another version is rebuilt. */
export const HEADER = writeLine({ journal: 'envelope-index', version: 2 });
/** Lines per write. A killed process loses at most this many. */
const LINES_PER_WRITE = 50;
/** A file is created together with its first line. */
const APPEND = constants.O_WRONLY | constants.O_APPEND;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

export function indexFolder(stateDir: string): string {
  return join(stateDir, 'index');
}

/** Returns the prefix of a profile's indexes. A profile has one for each key and address. */
export function indexPrefix(profile: string | undefined): string {
  return `${shortDigest(profile ?? '')}-`;
}

/** Returns the path of a scope's index. Its name is a checksum, so it reveals no address, profile, or key. */
export function indexPath(stateDir: string, { baseUrl, profile, apiKey }: IndexScope): string {
  const name = shortDigest(JSON.stringify([baseUrl, apiKey]));
  return join(indexFolder(stateDir), `${indexPrefix(profile)}${name}.jsonl`);
}

/**
 * Appends to an index, which several processes may do at the same time. If the disk can't be written to, the command continues
 * without.
 */
export class IndexWriter {
  readonly path: string;
  /** The checksum of the last line of each envelope, as far as it is known. */
  readonly #last = new Map<string, number>();
  #waiting: string[] = [];
  /** True once a write has failed: later lines are missing from the file. */
  hasFailed = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Sets the checksum of the line that the file has of an envelope, which is only added again if it has changed. */
  note(id: string, checksum: number | undefined): void {
    if (checksum === undefined) this.#last.delete(id);
    else this.#last.set(id, checksum);
  }

  /** Adds an envelope that was read or written, if it has changed, and returns its checksum. `alone`: it was requested by its ID. */
  envelope(seen: Envelope, alone: boolean): number {
    const { line, checksum } = checksummedLine(entryOf(seen, alone));
    if (this.#last.get(seen.id) !== checksum) this.#append(line);
    this.note(seen.id, checksum);
    return checksum;
  }

  event(event: IndexEvent): void {
    if ('gone' in event) this.#last.delete(event.gone);
    this.#append(writeLine(event));
  }

  /** Deletes the index. The next query reads every envelope. */
  clear(): void {
    this.#waiting = [];
    this.#last.clear();
    rmSync(this.path, { force: true });
  }

  /** Writes the pending lines. */
  flush(): void {
    const lines = this.#waiting;
    this.#waiting = [];
    if (this.hasFailed || lines.length === 0) return;
    try {
      // The line break ends a line that a killed process left incomplete.
      appendTo(this.path, `\n${lines.join('')}`);
    } catch {
      this.hasFailed = true;
    }
  }

  #append(line: string): void {
    this.#waiting.push(line);
    if (this.#waiting.length >= LINES_PER_WRITE) this.flush();
  }
}

function appendTo(path: string, text: string): void {
  let file = openRegular(path, APPEND);
  if (file === undefined) {
    makeFolder(dirname(path), 0o700);
    create(path);
    file = openRegular(path, APPEND);
  }
  if (file !== undefined) write(file, text);
}

function create(path: string): void {
  try {
    write(openSync(path, CREATE, 0o600), HEADER);
  } catch (error) {
    // Another process created it first.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function write(file: number, text: string): void {
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}
