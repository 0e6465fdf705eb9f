import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import type { JudgedSeal, SealVerdict } from '../seal/judge.ts';
import { MANIFEST_NAME, parseLine, readManifest, staysInside } from './manifest.ts';

const AT_ONCE = 4;

/** What was found of a file. */
export interface VerifiedFile {
  path: string | null;
  sha256: string | null;
  /** How it stands to the list of hashes. */
  list: 'ok' | 'changed' | 'missing' | 'unlisted';
  /** Null for what is no PDF. */
  seal: JudgedSeal | null;
  error: { code: string; message: string } | null;
}

export interface VerifyOptions {
  /** Judges the seal of a PDF. */
  judge: (path: string) => Promise<SealVerdict>;
  signal?: AbortSignal | undefined;
}

/** A file to look at, and what the list says of it. */
interface Candidate {
  /** Undefined for a line of the list that can't be read. */
  path: string | undefined;
  sha256: string | undefined;
  /** As a person knows it. */
  name: string;
}

/**
 * Checks folders and files: their hashes against the list of their folder, and the seal of each PDF. Of a folder, all that
 * its list names and the PDFs that it does not.
 * @throws UsageError when there is nothing to check.
 */
export async function* verifyPapers(
  places: readonly string[],
  options: VerifyOptions,
): AsyncGenerator<VerifiedFile, void, undefined> {
  const candidates: Candidate[] = [];
  for (const place of places) candidates.push(...(await candidatesAt(place)));
  yield* mapInOrder(candidates, AT_ONCE, (candidate) => verifyOne(candidate, options));
}

async function candidatesAt(place: string): Promise<Candidate[]> {
  // An empty path would resolve to the current folder.
  const stat = await lstat(place && resolve(place)).catch((error: unknown) => {
    throw new UsageError(`Can't read ${place} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Name a folder of downloaded files, or the files.',
    });
  });
  const isFolder = stat.isDirectory() || (stat.isSymbolicLink() && (await isFolderAt(place)));
  return isFolder ? candidatesIn(place) : [await candidateOf(place)];
}

async function isFolderAt(place: string): Promise<boolean> {
  return readdir(place).then(
    () => true,
    () => false,
  );
}

async function candidateOf(path: string): Promise<Candidate> {
  const listed = entriesIn(await readManifest(dirname(path))).find(({ name }) => name === basename(path));
  return { path, sha256: listed?.sha256, name: path };
}

async function candidatesIn(dir: string): Promise<Candidate[]> {
  const listed = entriesIn(await readManifest(dir));
  const names = new Set(listed.map(({ name }) => name));
  const others = (await readdir(dir)).filter((name) => /\.pdf$/i.test(name) && !names.has(name)).toSorted();
  const unlisted = others.map((name) => ({ path: join(dir, name), sha256: undefined, name }));
  const candidates = [...listed.map((entry) => inFolder(dir, entry)), ...unlisted];
  if (candidates.length > 0) return candidates;
  throw new UsageError(`There is no ${MANIFEST_NAME} in ${dir}, or nothing in it, and no PDF.`, {
    hint: 'A download writes it: `esign envelopes download … --dir DIR`.',
  });
}

interface Entry {
  name: string;
  /** Undefined for a line that is no entry. */
  sha256: string | undefined;
}

function entriesIn(lines: readonly string[]): Entry[] {
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => parseLine(line) ?? { name: line, sha256: undefined });
}

function inFolder(dir: string, { name, sha256 }: Entry): Candidate {
  if (sha256 === undefined)
    return { path: undefined, sha256, name: `A line of ${MANIFEST_NAME} is no entry: ${name}` };
  if (!staysInside(name)) return { path: undefined, sha256, name: `${name} is outside the folder.` };
  return { path: join(dir, name), sha256, name };
}

async function verifyOne(
  { path, sha256: expected, name }: Candidate,
  { judge, signal }: VerifyOptions,
): Promise<VerifiedFile> {
  signal?.throwIfAborted();
  const failed = (message: string, facts: Partial<VerifiedFile> = {}): VerifiedFile => ({
    ...{ path: path ?? null, sha256: null, list: 'changed', seal: null },
    ...facts,
    error: { code: 'STORAGE_CORRUPT', message },
  });
  if (path === undefined) return failed(name);
  try {
    const hashed = await hashFile(path);
    if (hashed === undefined) return failed(`${name} is missing.`, { list: 'missing' });
    const { sha256, isPdf } = hashed;
    const { seal, problem } = isPdf ? await judge(path) : { seal: null, problem: null };
    if (expected !== undefined && expected !== sha256)
      return failed(`${name} is not what was downloaded: its SHA-256 is another.`, { sha256, seal });
    const error = problem === null ? null : { ...problem, message: `${name}: ${problem.message}` };
    return { path, sha256, list: expected === undefined ? 'unlisted' : 'ok', seal, error };
  } catch (error) {
    return failed(`${name} can't be read (${diskReason(error)}).`);
  }
}

const PDF_HEAD = Buffer.from('%PDF-');

async function hashFile(path: string): Promise<{ sha256: string; isPdf: boolean } | undefined> {
  const file = openRegular(path);
  if (file === undefined) return undefined;
  try {
    const hash = createHash('sha256');
    let isPdf: boolean | undefined;
    for await (const block of blocksOf(file)) {
      isPdf ??= PDF_HEAD.equals(block.subarray(0, PDF_HEAD.length));
      hash.update(block);
    }
    return { sha256: hash.digest('hex'), isPdf: isPdf ?? false };
  } finally {
    closeSync(file);
  }
}
