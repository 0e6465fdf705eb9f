import { closeSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';
import { isForeignLink } from '../../kernel/files/ownership.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import type { DownloadFolder } from '../archive/download-folder.ts';
import { fileDiffersError, localError } from '../archive/local-error.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { hasContentHash, isStrongEtag, type ObjectMetadata } from '../bucket/object-headers.ts';
import type { SealWithSigner } from '../seal/check-seal.ts';
import { DownloadDigest } from './digest.ts';
import type { BucketEtags } from './etag-proof.ts';
import type { DocumentFile } from './locate.ts';
import { PartFile } from './part-file.ts';
import { etagMismatchError, type StartedDownload, type TransferOptions, transfer } from './transfer.ts';

/** A downloaded file, as `--json` prints it. */
export interface FileResult {
  envelopeId: string | null;
  what: string | null;
  key: string | null;
  path: string | null;
  bytes: number | null;
  sha256: string | null;
  /** What proves that these are the object's bytes; null if they were not saved. */
  proof: IntegrityProof | null;
  status: 'downloaded' | 'unchanged' | 'failed';
  error: { code: string; message: string } | null;
}

/** A checksum of the bucket, the MD5 in its ETag, or, where it has neither, an intact seal of the whole file, or only the size. */
export type IntegrityProof = 'checksum' | 'etag' | 'seal' | 'size';

export interface DownloadOptions extends Pick<TransferOptions, 'clock' | 'signal' | 'progress'> {
  /** The folder for the file, which records it. */
  folder: DownloadFolder;
  /** Whether to replace a different file with the same name. */
  force: boolean;
  etags: BucketEtags;
}

/** The bytes of an object, on disk under the final name. */
interface SavedFile {
  status: 'downloaded' | 'unchanged';
  bytes: number;
  sha256: string;
  proof: IntegrityProof;
  seal: SealWithSigner | null;
}

/**
 * Downloads one object into a file: streams it to a part file in the same folder, verifies, syncs, and renames it. The final name never
 * refers to an incomplete file or to anything other than the object. An existing file is compared with the object's metadata, without
 * downloading its body.
 * @throws StorageError for every failure.
 */
export async function downloadFile(
  bucket: Bucket,
  { envelopeId, what, key, fileName }: DocumentFile,
  options: DownloadOptions,
): Promise<{ result: FileResult; seal: SealWithSigner | null }> {
  const { folder, signal } = options;
  const path = join(folder.dir, fileName);
  try {
    folder.check(path);
    const { seal, ...saved } = await save(bucket, key, path, options);
    folder.record(path, saved.sha256);
    return { result: { envelopeId, what, key, path, ...saved, error: null }, seal };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw localError(error, path);
  }
}

async function save(bucket: Bucket, key: string, path: string, options: DownloadOptions): Promise<SavedFile> {
  const file = openExisting(path, options);
  if (file === undefined) return download(bucket, key, path, options);
  try {
    const facts = await bucket.head(key, options.signal);
    const existing = await unlessCorrupt(async () => (await digestOf(file, key, facts)).result());
    if (existing?.proof !== undefined) {
      const { bytes, sha256, proof } = existing;
      return { bytes, sha256, status: 'unchanged', proof, seal: await sealIn(file, options.signal) };
    }
    if (existing === undefined && !options.force) throw fileDiffersError(path);
    // Nothing of the bucket proves what the file is, so the bytes are compared.
    return await download(bucket, key, path, { ...options, existing: existing?.sha256 });
  } finally {
    closeSync(file);
  }
}

interface Download extends DownloadOptions {
  /** The SHA-256 of the file that has the final name now. */
  existing?: string | undefined;
}

/** Downloads the object to its part file and gives it its final name. */
async function download(bucket: Bucket, key: string, path: string, options: Download): Promise<SavedFile> {
  const part = PartFile.open(`${path}.part`);
  let isUseful = false;
  try {
    const begun = await begunIn(part, bucket, key, options);
    if (begun === undefined && part.length > 0) part.restart();
    const { hash, seal } = await receive(part, bucket, key, { ...options, begun });
    const { bytes, sha256 } = hash;
    const status = await publish(part, path, sha256, options);
    return { bytes, sha256, status, proof: hash.proof ?? (isSealed(seal) ? 'seal' : 'size'), seal };
  } catch (error) {
    // The next run can use bytes received before a connection broke, but not bytes that were rejected.
    isUseful =
      part.length > 0 && (options.signal?.aborted === true || codeOf(error) === 'STORAGE_UNREACHABLE');
    throw error;
  } finally {
    part.close();
    if (!isUseful) part.discard();
  }
}

/**
 * Returns the object whose first bytes an earlier run left in the part file. Only an object that the bucket proves by a hash is continued,
 * because all of its bytes are hashed in the end.
 */
async function begunIn(
  part: PartFile,
  bucket: Bucket,
  key: string,
  { signal }: DownloadOptions,
): Promise<StartedDownload | undefined> {
  if (part.length === 0) return undefined;
  const facts = await bucket.head(key, signal);
  if (!hasContentHash(facts) || !isStrongEtag(facts.etag) || facts.size === undefined) return undefined;
  const digest = await unlessCorrupt(() => digestOf(part.file, key, facts));
  return digest && { facts, digest };
}

/** Hashes the bytes of an open file. @throws StorageError STORAGE_CORRUPT if they can't be the first ones of the object. */
async function digestOf(file: number, key: string, facts: ObjectMetadata): Promise<DownloadDigest> {
  const digest = new DownloadDigest(key, facts);
  for await (const block of blocksOf(file)) digest.update(block);
  return digest;
}

/** Returns undefined if bytes are not the object's. */
async function unlessCorrupt<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) === 'STORAGE_CORRUPT') return undefined;
    throw error;
  }
}

/**
 * Transfers the object into the part file and reads its seal. If its ETag looks like an MD5 and isn't the one of these bytes, and no seal
 * covers them, they are fetched a second time. If that gives the same result, they are accepted only if another file of the run proves by its
 * seal that the bucket's ETags aren't MD5s. A seal proves nothing about bytes that an earlier run left, because they can be an older version
 * of the object.
 * @throws StorageError STORAGE_CORRUPT if the bytes are wrong.
 */
async function receive(
  part: PartFile,
  bucket: Bucket,
  key: string,
  options: Download & Pick<TransferOptions, 'begun'>,
) {
  const { clock, signal, etags } = options;
  const receiveOnce = async (more: Pick<TransferOptions, 'begun' | 'progress'> = {}) => {
    const received = await transfer(bucket, key, part, { clock, signal, ...more });
    return { ...received, seal: await sealIn(part.file, signal, part.mayBeSigned) };
  };
  const isProven = ({ hash, seal }: Awaited<ReturnType<typeof receiveOnce>>, isFresh: boolean) => {
    if (hash.hasOtherEtag && isFresh && isSealed(seal)) etags.proveOther();
    return !hash.hasOtherEtag || (isFresh && etags.areOther);
  };
  const first = await receiveOnce({ begun: options.begun, progress: options.progress });
  if (isProven(first, options.begun === undefined)) return first;
  part.restart();
  const second = await receiveOnce();
  const isSame = second.hash.sha256 === first.hash.sha256;
  if (isProven(second, true) || (isSame && (await etags.awaitProof()))) return second;
  throw etagMismatchError(key);
}

/** Returns true if a seal covers every byte of the file, so that it proves the content without the bucket. */
function isSealed(checked: SealWithSigner | null): boolean {
  return checked?.seal.state === 'intact' && checked.seal.coverage === 'whole';
}

/** Reads the seal of an open file. The code is loaded on first use. */
async function sealIn(
  file: number,
  signal: AbortSignal | undefined,
  mayBeSigned?: boolean,
): Promise<SealWithSigner | null> {
  const { checkSeal } = await import('../seal/check-seal.ts');
  return checkSeal(file, signal, mayBeSigned);
}

/** Gives the part file its final name, unless the same file has it already. */
async function publish(
  part: PartFile,
  path: string,
  sha256: string,
  { existing, force }: Download,
): Promise<SavedFile['status']> {
  if (existing === sha256) return 'unchanged';
  if (!force && lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw fileDiffersError(path);
  await part.publish(path);
  return 'downloaded';
}

/**
 * Opens a file. Returns undefined if it doesn't exist.
 * @throws StorageError STORAGE_LOCAL if it is a link to a missing file, which must not be replaced, or another user's link, whose file that
 * user could change.
 */
function openExisting(path: string, { force }: DownloadOptions): number | undefined {
  // For a file that doesn't exist, this takes a tenth of the time of a failed open.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const file = isForeignLink(path) ? undefined : openRegular(path);
  if (file === undefined && !force) throw fileDiffersError(path);
  return file;
}
