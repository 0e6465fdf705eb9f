import { lstatSync } from 'node:fs';
import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { writeFileAtomic } from '../../kernel/files/files.ts';
import { readOwnBytes, tooLargeError } from '../../kernel/files/ownership.ts';
import { toUtf8 } from '../../kernel/text/utf8.ts';

/** The list of all files and their hashes, in the format of `sha256sum`. */
export const MANIFEST_NAME = 'SHA256SUMS';

/** A line of the list that names a file. */
export interface ManifestEntry {
  sha256: string;
  /** The name as written in the list: with slashes, relative to the list's folder. */
  name: string;
}

/** Returns the name of a file as it appears in the list of a folder. */
export function manifestName(dir: string, path: string): string {
  return relative(dir, path).split(sep).join('/');
}

/** A line as `sha256sum` writes it. */
const LINE = /^([0-9a-fA-F]{64}) [ *](.+)$/s;
/** A line as `sha256sum --tag`, `shasum --tag`, and `openssl dgst` write it. */
const TAGGED_LINE = /^SHA(?:2-)?256 ?\((.+)\) ?= ([0-9a-fA-F]{64})$/s;

/** Parses a line returned by `readManifest`. Returns undefined for a comment or anything else that isn't an entry. */
export function parseManifestLine(line: string): ManifestEntry | undefined {
  const [, taggedName, taggedHash] = TAGGED_LINE.exec(line) ?? [];
  const [, sha256 = taggedHash, name = taggedName] = LINE.exec(line) ?? [];
  if (sha256 === undefined || name === undefined) return undefined;
  return { sha256: sha256.toLowerCase(), name: Buffer.from(name, 'latin1').toString('utf8') };
}

function formatLine(sha256: string, name: string): string {
  return Buffer.from(`${sha256}  ${name}`).toString('latin1');
}

/** The largest list, with room for 400,000 files with long names. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const MAX_LIST_LINES = 1_000_000;

/**
 * Returns the lines of a folder's list, decoded as Latin-1 because a name can contain any bytes. Returns an empty array if there is no
 * list.
 * @throws UsageError if it can't be read, or if somebody else may have put it there: it is a link, or belongs to another user.
 */
export async function readManifest(dir: string): Promise<string[]> {
  try {
    return await linesIn(dir);
  } catch (error) {
    throw new UsageError(`Can't read ${join(dir, MANIFEST_NAME)} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check the path and its permissions.',
    });
  }
}

async function linesIn(dir: string): Promise<string[]> {
  const bytes = await readOwnBytes(join(dir, MANIFEST_NAME), MAX_LIST_BYTES);
  const text = bytes === undefined ? '' : toUtf8(bytes).toString('latin1');
  const lines = text.split('\n', MAX_LIST_LINES + 1);
  if (lines.length > MAX_LIST_LINES) throw tooLargeError();
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.replace(/\r$/, ''));
}

/**
 * Adds files to a folder's list and keeps all other lines. A reader sees either the old or the new list. The caller has locked the folder
 * (DownloadFolder), so no other run writes the list.
 * @throws the system's error.
 */
export async function updateManifest(dir: string, files: ReadonlyMap<string, string>): Promise<void> {
  if (files.size === 0) return;
  const missing = new Map(files);
  const lines = (await linesIn(dir)).map((line) => {
    // `find` prefixes names with ./
    const name = posix.normalize(parseManifestLine(line)?.name ?? '');
    const sha256 = files.get(name);
    if (sha256 === undefined) return line;
    missing.delete(name);
    return formatLine(sha256, name);
  });
  const added = [...missing].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, sha256] of added) lines.push(formatLine(sha256, name));
  const path = join(dir, MANIFEST_NAME);
  // A list that others couldn't read stays private.
  const mode = (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
  await writeFileAtomic(path, Buffer.from(`${lines.join('\n')}\n`, 'latin1'), mode);
}

/** Returns true if a name in the list stays inside the list's folder. */
export function isInsideFolder(name: string): boolean {
  return name !== '' && !isAbsolute(name) && !/^[a-z]:/i.test(name) && !name.split(/[/\\]/).includes('..');
}
