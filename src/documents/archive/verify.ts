import { closeSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { EsignError, UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { refuseLinks } from '../../kernel/files/folder.ts';
import { openRegular, sha256Of } from '../../kernel/files/regular-file.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { checkSeal, type SealWithSigner } from '../seal/check-seal.ts';
import { expectsSeals, judgeSeal, type SealRule, type SealWithTrust } from '../seal/judge.ts';
import { hasSealedPart, sealedPartPath, writeSealedPart } from '../seal/sealed-part.ts';
import type { TrustedSigners } from '../seal/trust.ts';
import { type ExpectedHash, folderAndParents, HashLists } from './hash-lists.ts';
import { localError } from './local-error.ts';
import { isInsideFolder, MANIFEST_NAME } from './manifest.ts';
import { isCutOff, isPdf } from './pdf-header.ts';

const CONCURRENCY = 4;

export interface VerifiedFile {
  path: string | null;
  sha256: string | null;
  /** The result of comparing the file with the hash lists; `unlisted` if no list names it. */
  list: 'ok' | 'changed' | 'missing' | 'unlisted';
  /** Null for a file that isn't a PDF. */
  seal: SealWithTrust | null;
  error: { code: string; message: string } | null;
}

export interface ArchiveVerifyOptions {
  /** The known signers. If one is pinned or required, signed documents and certificates must be sealed. */
  known: TrustedSigners;
  /** Whether files that aren't sealed PDFs fail. The unsigned original is exempt. */
  requireSeal?: boolean | undefined;
  /** The folder for the sealed parts of files to which data was added later; none are written without it. */
  sealedPartDir?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Verifies folders and files: compares hashes with every list that names the file, in its folder and the folders above, and checks the seal
 * of each PDF.
 * @throws UsageError if there is nothing to check.
 */
export async function* verifyDocuments(
  places: readonly string[],
  options: ArchiveVerifyOptions,
): AsyncGenerator<VerifiedFile, void, undefined> {
  const lists = new HashLists(places);
  const candidates: ArchiveFile[] = [];
  for (const place of places)
    for (const candidate of await candidatesAt(place, lists)) candidates.push(candidate);
  yield* mapInOrder(candidates, CONCURRENCY, (candidate) => verifyOne(candidate, lists, options));
}

async function verifyOne(
  candidate: ArchiveFile,
  lists: HashLists,
  options: ArchiveVerifyOptions,
): Promise<VerifiedFile> {
  options.signal?.throwIfAborted();
  const { path } = candidate;
  const failed = (message: string, facts: Partial<VerifiedFile> = {}): VerifiedFile => ({
    path,
    sha256: null,
    list: 'changed',
    seal: null,
    ...facts,
    error: { code: 'STORAGE_CORRUPT', message },
  });
  if (path === null || candidate.isFailure) return failed(candidate.name);
  const expected = await lists.expectedOf(path);
  let opened: number | undefined;
  try {
    opened = openRegular(path);
    if (opened === undefined) return failed(`${path} is missing.`, { list: 'missing' });
    const sha256 = await sha256Of(opened);
    const rule = ruleFor(candidate, { isListed: expected.length > 0, isPdf: isPdf(opened) }, options);
    // Uses the descriptor, so that the bytes are those whose hash was compared, even if the file was replaced in the meantime.
    const checked = await checkSeal(opened, options.signal);
    const saved = await saveSealedPart(opened, checked, candidate, options);
    const known: TrustedSigners = { ...options.known, acceptsExtended: saved === true ? 'all' : undefined };
    const { seal, problem } = judgeSeal(checked, known, rule);
    const other = expected.find((one) => one.sha256 !== sha256);
    const changed = other && { code: 'STORAGE_CORRUPT', message: mismatch(path, other) };
    const bad = (expected.length === 0 && incompleteness(opened, seal)) || problem;
    const badFile = bad && { ...bad, message: `${path}: ${bad.message}` };
    const list = listResult(expected, changed !== undefined);
    return { path, sha256, list, seal, error: errorOf([changed ?? badFile, saved === true ? null : saved]) };
  } catch (error) {
    options.signal?.throwIfAborted();
    const reason =
      error instanceof EsignError ? error.message : `${path} can't be read (${diskReason(error)}).`;
    return failed(reason, { list: listResult(expected, true) });
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

function listResult(expected: readonly ExpectedHash[], isChanged: boolean): VerifiedFile['list'] {
  if (expected.length === 0) return 'unlisted';
  return isChanged ? 'changed' : 'ok';
}

/**
 * Saves what was sealed, under the path that the file has in the verified folder. Returns true if it was saved, and null if there is
 * nothing to save. An error says nothing about the file itself.
 */
async function saveSealedPart(
  opened: number,
  checked: SealWithSigner | null,
  { name, isNamed }: ArchiveFile,
  { sealedPartDir: dir }: ArchiveVerifyOptions,
): Promise<true | EsignError | null> {
  if (dir === undefined || !hasSealedPart(checked?.seal)) return null;
  const isBelow = !isNamed && isInsideFolder(name);
  const path = sealedPartPath(join(dir, isBelow ? name : basename(name)));
  try {
    refuseLinks(dir, path);
    await writeSealedPart(opened, checked?.seal.sealedBytes ?? 0, path);
    return true;
  } catch (error) {
    return localError(error, path);
  }
}

/** Joins the problems of a file into one error, with the code of the first. */
function errorOf(problems: readonly (VerifiedFile['error'] | undefined)[]): VerifiedFile['error'] {
  const all = problems.filter((one) => one !== null && one !== undefined);
  const [first] = all;
  return first === undefined
    ? null
    : { code: first.code, message: all.map(({ message }) => message).join(' ') };
}

/** A PDF that was cut off has lost the seal at its end, so it would look like one that never had any. */
function incompleteness(file: number, seal: SealWithTrust | null): VerifiedFile['error'] {
  if (seal?.state !== 'unsigned' || !isCutOff(file)) return null;
  const message = 'The end of the PDF is missing, and with it any seal. Get the file again.';
  return { code: 'STORAGE_CORRUPT', message };
}

function mismatch(path: string, { dir }: ExpectedHash): string {
  return `${path} was changed: its SHA-256 does not match ${join(dir, MANIFEST_NAME)}.`;
}

const ORIGINAL = /\.document\.pdf$/i;
const SEALED_BY_SERVICE = /(?:^|\.)(?:signed|certificate)\.pdf$/i;

function ruleFor(
  { path, isNamed }: ArchiveFile,
  { isListed, isPdf }: { isListed: boolean; isPdf: boolean },
  { requireSeal, known }: ArchiveVerifyOptions,
): SealRule {
  const name = basename(path ?? '');
  if (isListed && ORIGINAL.test(name)) return 'original';
  const isRequired = requireSeal && (isNamed || isPdf || /\.pdf$/i.test(name));
  return isRequired || (expectsSeals(known) && SEALED_BY_SERVICE.test(name)) ? 'required' : 'optional';
}

/** A file to check, or the failure that prevents checking it. */
interface ArchiveFile {
  /** Null for a line of a hash list that names no file. */
  path: string | null;
  /** The file's path in the folder, or the problem that prevents checking it. */
  name: string;
  isFailure?: true;
  /** True if the user named the file itself, not a folder that contains it. */
  isNamed: boolean;
}

/**
 * Returns the files to check at a place: the file itself, or, for a folder, every file listed in the hash lists of the folder and its
 * subfolders, plus their PDFs. Files below the folder that a list above it names are included, because they may be missing.
 * @throws UsageError if there is nothing to check.
 */
async function candidatesAt(place: string, lists: HashLists): Promise<ArchiveFile[]> {
  if (!(await isFolder(place))) return [{ path: place, name: place, isNamed: true }];
  const found: FoundFiles = { place, paths: new Set(), failures: [] };
  await addFolder(place, found, lists);
  for (const dir of folderAndParents(dirname(resolve(place))))
    for (const { file } of (await lists.of(dir)).lines)
      if (file?.startsWith(`${resolve(place)}${sep}`)) addFile(file, found);
  const files = [...found.paths].map((path): ArchiveFile => {
    const name = relative(place, path).split(sep).join('/');
    return { path, name, isNamed: false };
  });
  const candidates = [...files, ...found.failures];
  if (candidates.length > 0) return candidates;
  throw new UsageError(`${place} contains no PDFs, and no ${MANIFEST_NAME} that lists files.`, {
    hint: '`esign envelopes download ID --dir DIR` writes both.',
  });
}

async function isFolder(place: string): Promise<boolean> {
  // An empty path would resolve to the current folder.
  const entry = await stat(place && resolve(place)).catch((error: unknown) => {
    throw new UsageError(`Can't read ${place} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Pass a folder of downloaded files, or single files.',
    });
  });
  return entry.isDirectory();
}

/** The files to check in a folder, each one once, and what prevents checking others. */
interface FoundFiles {
  place: string;
  paths: Set<string>;
  failures: ArchiveFile[];
}

/** Adds a file of the folder, under the path that begins as the user named the folder. */
function addFile(file: string, { place, paths }: FoundFiles): void {
  paths.add(join(place, relative(resolve(place), resolve(file))));
}

/** Adds a folder and its subfolders. Links to folders are not followed, because they can lead anywhere and form cycles. */
async function addFolder(dir: string, found: FoundFiles, lists: HashLists): Promise<void> {
  const fail = (path: string | null, name: string) =>
    void found.failures.push({ path, name, isNamed: false, isFailure: true });
  for (const { file, problem } of (await lists.of(resolve(dir))).lines) {
    if (file !== undefined) addFile(file, found);
    else fail(null, `${join(dir, MANIFEST_NAME)}: ${problem}`);
  }
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) =>
    fail(dir, `${dir} can't be read (${diskReason(error)}).`),
  );
  const sorted = [...(entries ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of sorted) {
    const path = join(dir, entry.name);
    if (/\.pdf$/i.test(entry.name)) addFile(path, found);
    if (entry.isDirectory()) await addFolder(path, found, lists);
  }
}
