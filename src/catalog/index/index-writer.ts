import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeLine } from '../../journal/line.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { codeOf } from '../../kernel/errors.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import type { IndexEntry, IndexEvent } from './entry.ts';

/** The account of an index. What one key can see is never shown to another. */
export interface IndexScope {
  baseUrl: string;
  profile: string | undefined;
  /** The key, or where it comes from. */
  apiKey: string;
}

/** The first line. A file of another version is rebuilt. */
export const HEADER = { journal: 'envelope-index', version: 1 };
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
 * Appends lines to an index. Several processes may do so at the same time. A process that is killed in the meantime leaves at most
 * one incomplete line.
 */
export function appendToIndex(path: string, entries: readonly (IndexEntry | IndexEvent)[]): void {
  // The line break ends a line that another process left incomplete.
  const text = `\n${entries.map(writeLine).join('')}`;
  try {
    write(path, APPEND, text);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeFolder(dirname(path), 0o700);
    create(path);
    write(path, APPEND, text);
  }
}

function create(path: string): void {
  try {
    write(path, CREATE, writeLine(HEADER));
  } catch (error) {
    // Another process created it first.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function write(path: string, mode: number, text: string): void {
  const file = openSync(path, mode, 0o600);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}
