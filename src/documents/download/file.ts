import { createHash } from 'node:crypto';
import { closeSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { startMd5 } from '../../kernel/digest.ts';
import { codeOf, StorageError } from '../../kernel/errors.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import type { DownloadFolder, EarlierDownload } from '../archive/download-folder.ts';
import { localError } from '../archive/local-error.ts';
import { MANIFEST_NAME } from '../archive/manifest.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isStrong, type ObjectFacts, type Opened, type OpenedObject } from '../bucket/object.ts';
import type { CheckedSeal } from '../seal/check-seal.ts';
import type { FileHash } from './digest.ts';
import type { DocumentFile } from './locate.ts';
import { PartFile } from './part-file.ts';
import { type TransferProgress, transfer } from './transfer.ts';

/** A downloaded file, as `--json` prints it. */
export interface FileResult extends Pick<FileHash, 'proof'> {
  envelopeId: string | null;
  what: string | null;
  key: string | null;
  path: string | null;
  bytes: number | null;
  sha256: string | null;
  status: 'downloaded' | 'unchanged' | 'failed';
  error: { code: string; message: string } | null;
}

export interface DownloadOptions {
  /** The folder for the file, which records it. */
  folder: DownloadFolder;
  /** Whether to replace a different file with the same name. */
  force: boolean;
  signal?: AbortSignal | undefined;
  clock: Clock;
  progress?: TransferProgress | undefined;
}

/** An object, the file for it, and what is known about the file. */
interface Place {
  bucket: Bucket;
  key: string;
  path: string;
  earlier: EarlierDownload;
  /** Whether it is a document of an envelope, which never changes. */
  isDocument: boolean;
}

interface ExistingHash extends FileHash {
  md5: string | undefined;
}

interface Saved extends FileHash {
  status: 'downloaded' | 'unchanged';
  /** Set if the ETag doesn't prove the content. */
  etag?: string | undefined;
  seal: CheckedSeal | null;
}

/**
 * Downloads one object into a file: streams it to a part file in the same folder, verifies, syncs, and renames it. The final name never
 * refers to an incomplete file or to anything other than the object. An existing file is compared with the object's metadata, without
 * downloading its body. The seal is read from the bytes that were saved, not by opening the path again.
 * @throws StorageError for every failure.
 */
export async function downloadFile(
  bucket: Bucket,
  { envelopeId, what, key, fileName }: DocumentFile,
  options: DownloadOptions,
): Promise<{ result: FileResult; seal: CheckedSeal | null }> {
  const { folder, signal } = options;
  const path = join(folder.dir, fileName);
  try {
    const earlier = await folder.check(path);
    const place = { bucket, key, path, earlier, isDocument: what !== null };
    const { status, bytes, sha256, etag, proof, seal } = await save(place, options);
    await folder.record(path, { sha256, etag, isNew: status === 'downloaded' });
    return { result: { envelopeId, what, key, path, bytes, sha256, status, proof, error: null }, seal };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw localError(error, path);
  }
}

async function save(place: Place, options: DownloadOptions): Promise<Saved> {
  const file = openExisting(place.path, options);
  if (file === undefined) return replace(place, undefined, options);
  let opened: OpenedObject | undefined;
  try {
    const existing = await hashesOf(file);
    const answer = await compare(place, existing, options);
    if (answer.kind === 'same') return { ...existing, status: 'unchanged', seal: await sealIn(file) };
    if (answer.kind === 'object') opened = answer;
  } finally {
    closeSync(file);
  }
  return replace(place, opened, options);
}

/** Downloads the object. `opened`: the object, if it is already open. */
async function replace(
  place: Place,
  opened: OpenedObject | undefined,
  options: DownloadOptions,
): Promise<Saved> {
  const { bucket, key } = place;
  const part = await PartFile.open(`${place.path}.part`, { bucket: bucket.name, key });
  try {
    const { facts, hash } = await transfer(bucket, key, part, { ...options, opened });
    const seal = await sealIn(part.file);
    const status = await publish(part, hash, place, options);
    return { ...hash, status, etag: facts.md5 === undefined ? facts.etag : undefined, seal };
  } catch (error) {
    // The next run can use bytes received before a connection broke, but not bytes that were rejected.
    const isUseful = options.signal?.aborted || codeOf(error) === 'STORAGE_UNREACHABLE';
    if (isUseful) part.keep();
    else part.discard();
    throw error;
  }
}

/** Reads the seal of an open file. The code is loaded on first use. */
async function sealIn(file: number): Promise<CheckedSeal | null> {
  const { checkSeal } = await import('../seal/check-seal.ts');
  return checkSeal(file);
}

/**
 * Opens the object unless it is the same as the existing file. The result is `changed` if the bucket refused the condition, so that
 * only the bytes can be compared.
 * @throws StorageError STORAGE_LOCAL if it differs and the file must not be replaced.
 */
async function compare(
  { bucket, key, path, earlier: { saved } }: Place,
  existing: ExistingHash,
  { signal, force }: DownloadOptions,
): Promise<Opened> {
  const md5 = existing.md5 === undefined ? undefined : `"${existing.md5}"`;
  const recorded = saved?.sha256 === existing.sha256 ? saved.etag : undefined;
  const answer = await bucket.open(key, { ifNoneMatch: isStrong(recorded) ? recorded : md5, signal });
  if (answer.kind !== 'object' || force || !isDifferent(existing, answer.facts)) return answer;
  answer.cancel();
  throw differs(path);
}

/** Gives the part file its final name, unless the same file already has it by now. */
async function publish(
  part: PartFile,
  { sha256 }: FileHash,
  { path, earlier: { listed }, isDocument }: Place,
  options: DownloadOptions,
): Promise<Saved['status']> {
  const existing = await hashesAt(path, options);
  if (existing?.sha256 === sha256) {
    part.discard();
    return 'unchanged';
  }
  if (!options.force && existing !== undefined) throw differs(path);
  // It was downloaded before, is no longer there, and has changed in the bucket.
  if (!options.force && isDocument && listed !== undefined && listed !== sha256)
    throw new StorageError(
      'STORAGE_LOCAL',
      `${path} was not saved: its SHA-256 differs from the one in ${join(options.folder.dir, MANIFEST_NAME)}, so it has changed in the bucket.`,
      { hint: 'Use --force to accept the new content, or --dir to use a different folder.' },
    );
  await part.publish(path);
  return 'downloaded';
}

/** Returns false if the file is the object, or if only comparing the bytes could show a difference. */
function isDifferent(file: ExistingHash, facts: ObjectFacts): boolean {
  if (facts.size !== undefined && facts.size !== file.bytes) return true;
  return facts.md5 !== undefined && facts.md5 !== file.md5;
}

function differs(path: string): StorageError {
  return new StorageError(
    'STORAGE_LOCAL',
    `${path} already exists with different content. It was not replaced.`,
    {
      hint: 'Use --force to replace it, or --dir to use a different folder.',
    },
  );
}

/**
 * Opens a file. Returns undefined if it doesn't exist.
 * @throws StorageError STORAGE_LOCAL if it is a link to a missing file, which must not be replaced.
 */
function openExisting(path: string, { force }: DownloadOptions): number | undefined {
  // For a file that doesn't exist, this takes a tenth of the time of a failed open.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const file = openRegular(path);
  if (file === undefined && !force) throw differs(path);
  return file;
}

async function hashesAt(path: string, options: DownloadOptions): Promise<ExistingHash | undefined> {
  const file = openExisting(path, options);
  if (file === undefined) return undefined;
  try {
    return await hashesOf(file);
  } finally {
    closeSync(file);
  }
}

async function hashesOf(file: number): Promise<ExistingHash> {
  const [sha256, md5] = [createHash('sha256'), startMd5()];
  let bytes = 0;
  for await (const block of blocksOf(file)) {
    bytes += block.byteLength;
    sha256.update(block);
    md5?.update(block);
  }
  return { bytes, sha256: sha256.digest('hex'), md5: md5?.digest('hex') };
}
