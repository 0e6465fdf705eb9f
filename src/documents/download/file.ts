import { createHash } from 'node:crypto';
import { closeSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { startMd5 } from '../../kernel/digest.ts';
import { codeOf, StorageError } from '../../kernel/errors.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import type { DownloadFolder } from '../archive/download-folder.ts';
import { localError } from '../archive/local-error.ts';
import { isPdf } from '../archive/pdf-header.ts';
import type { Bucket } from '../bucket/bucket.ts';
import {
  isProvenBySize,
  isStrong,
  type ObjectFacts,
  type Opened,
  type OpenedObject,
} from '../bucket/object.ts';
import type { CheckedSeal } from '../seal/check-seal.ts';
import type { FileHash } from './digest.ts';
import { PartFile } from './part-file.ts';
import type { DocumentFile } from './targets.ts';
import { addProgress, type TransferOptions, type TransferProgress, transfer } from './transfer.ts';

/** A downloaded file, as `--json` prints it. */
export interface FileResult {
  envelopeId: string | null;
  what: string | null;
  key: string | null;
  path: string | null;
  bytes: number | null;
  sha256: string | null;
  status: 'downloaded' | 'unchanged' | 'failed';
  /** Set if only the size was compared with the bucket. */
  proof?: 'size';
  error: { code: string; message: string } | null;
}

export interface DownloadOptions {
  dir: string;
  /** The folder `dir`, which records the file. */
  folder: DownloadFolder;
  /** Whether to replace a different file with the same name. */
  force: boolean;
  signal?: AbortSignal | undefined;
  clock?: Clock | undefined;
  progress?: TransferProgress | undefined;
}

type Status = 'downloaded' | 'unchanged';

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
  const { dir, folder, signal } = options;
  const path = join(dir, fileName);
  try {
    const { status, bytes, sha256, etag, proof, seal } = await save(bucket, key, path, {
      ...options,
      isDocument: what !== null,
    });
    await folder.record(path, { sha256, etag, isNew: status === 'downloaded' });
    const result = { envelopeId, what, key, path, bytes, sha256, status, ...proof, error: null };
    return { result, seal };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw localError(error, path);
  }
}

/** `isDocument`: it is a document of an envelope, which never changes. */
type SaveOptions = DownloadOptions & { isDocument: boolean };

interface ExistingHash extends FileHash {
  md5: string | undefined;
}

interface Saved extends FileHash {
  status: Status;
  /** Set if the ETag doesn't prove the content. */
  etag?: string | undefined;
  proof?: Pick<FileResult, 'proof'>;
  seal: CheckedSeal | null;
}

async function save(bucket: Bucket, key: string, path: string, options: SaveOptions): Promise<Saved> {
  await options.folder.check(path);
  const file = openExisting(path, options);
  if (file === undefined) return replace(bucket, key, path, { ...options, opened: undefined });
  let opened: OpenedObject | undefined;
  try {
    const existing = await hashesOf(file);
    const answer = await compare(bucket, key, path, existing, options);
    if (answer.kind === 'same') return { ...existing, status: 'unchanged', seal: await sealIn(file) };
    if (answer.kind === 'object') opened = answer;
  } finally {
    closeSync(file);
  }
  return replace(bucket, key, path, { ...options, opened });
}

async function replace(
  bucket: Bucket,
  key: string,
  path: string,
  options: SaveOptions & { opened: OpenedObject | undefined },
): Promise<Saved> {
  const part = await PartFile.open(`${path}.part`, { bucket: bucket.name, key });
  try {
    const { facts, hash } = await fill(part, bucket, key, options);
    const seal = await sealIn(part.file);
    const status = await publish(part, path, hash, options);
    const etag = facts.md5 === undefined ? facts.etag : undefined;
    return { ...hash, status, etag, proof: isProvenBySize(facts) ? { proof: 'size' } : {}, seal };
  } catch (error) {
    // The next run can use bytes received before a connection broke, but not bytes that were rejected.
    const isUseful = options.signal?.aborted || codeOf(error) === 'STORAGE_UNREACHABLE';
    if (isUseful) part.keep();
    else part.discard();
    throw error;
  }
}

/** Reads the seal of an open file that starts like a PDF. The code is loaded on first use. */
async function sealIn(file: number): Promise<CheckedSeal | null> {
  if (!isPdf(file)) return null;
  const { checkSeal } = await import('../seal/check-seal.ts');
  return checkSeal(file);
}

/**
 * Opens the object unless it is the same as the existing file. The result is `changed` if the bucket refused the condition, so that
 * only the bytes can be compared.
 * @throws StorageError STORAGE_LOCAL if it differs and the file must not be replaced.
 */
async function compare(
  bucket: Bucket,
  key: string,
  path: string,
  existing: ExistingHash,
  { folder, signal, force }: DownloadOptions,
): Promise<Opened> {
  const md5 = existing.md5 === undefined ? undefined : `"${existing.md5}"`;
  const recorded = folder.etagOf(path, existing.sha256);
  const answer = await bucket.open(key, { ifNoneMatch: isStrong(recorded) ? recorded : md5, signal });
  if (answer.kind !== 'object' || force || !isDifferent(existing, answer.facts)) return answer;
  answer.cancel();
  throw differs(path);
}

/** Downloads the whole object into the part file and verifies it. If a resumed download fails verification, starts over once. */
async function fill(
  part: PartFile,
  bucket: Bucket,
  key: string,
  options: DownloadOptions & { opened: OpenedObject | undefined },
): Promise<{ facts: ObjectFacts; hash: FileHash }> {
  const { signal, progress, opened } = options;
  const common: TransferOptions = { clock: options.clock ?? systemClock, signal, progress };
  const { facts, resumed } = await transfer(bucket, key, part, { ...common, opened });
  try {
    return { facts, hash: part.verify() };
  } catch (error) {
    if (!resumed || codeOf(error) !== 'STORAGE_CORRUPT') throw error;
    addProgress(progress, -(facts.size ?? 0), -part.length);
    part.restart();
    const again = await transfer(bucket, key, part, common);
    return { facts: again.facts, hash: part.verify() };
  }
}

/** Gives the part file its final name, unless the same file already has it by now. */
async function publish(part: PartFile, path: string, hash: FileHash, options: SaveOptions): Promise<Status> {
  const { force, folder, isDocument } = options;
  const existing = await hashesAt(path, options);
  if (existing?.sha256 === hash.sha256) {
    part.discard();
    return 'unchanged';
  }
  if (!force && existing !== undefined) throw differs(path);
  if (!force && isDocument) folder.refuseChanged(path, hash.sha256);
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
