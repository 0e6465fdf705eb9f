import { createHash } from 'node:crypto';
import { closeSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { startMd5 } from '../../kernel/digest.ts';
import { codeOf, StorageError } from '../../kernel/errors.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import type { DownloadFolder } from '../archive/download-folder.ts';
import { differs, localError } from '../archive/local-error.ts';
import { MANIFEST_NAME } from '../archive/manifest.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isProvable, isStrong, type ObjectFacts, type OpenedObject } from '../bucket/object.ts';
import type { CheckedSeal } from '../seal/check-seal.ts';
import { Digest } from './digest.ts';
import type { DocumentFile } from './locate.ts';
import { PartFile } from './part-file.ts';
import { type Begun, type TransferOptions, transfer, wrongEtag } from './transfer.ts';

/** A downloaded file, as `--json` prints it. */
export interface FileResult {
  envelopeId: string | null;
  what: string | null;
  key: string | null;
  path: string | null;
  bytes: number | null;
  sha256: string | null;
  /** What proves that these are the object's bytes; null if they were not saved. */
  proof: Proof | null;
  status: 'downloaded' | 'unchanged' | 'failed';
  error: { code: string; message: string } | null;
}

/** A checksum of the bucket, the MD5 in its ETag, or, where it has neither, an intact seal of the whole file, or only the size. */
export type Proof = 'checksum' | 'etag' | 'seal' | 'size';

export interface DownloadOptions extends Pick<TransferOptions, 'clock' | 'signal' | 'progress'> {
  /** The folder for the file, which records it. */
  folder: DownloadFolder;
  /** Whether to replace a different file with the same name. */
  force: boolean;
}

/** A file on disk, with its hashes. */
interface Existing {
  bytes: number;
  sha256: string;
  md5: string | undefined;
}

/** The bytes of an object, on disk under the final name. */
interface Saved {
  status: 'downloaded' | 'unchanged';
  bytes: number;
  sha256: string;
  proof: Proof;
  /** Set if the ETag doesn't prove the content. */
  etag: string | undefined;
  seal: CheckedSeal | null;
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
): Promise<{ result: FileResult; seal: CheckedSeal | null }> {
  const { folder, signal } = options;
  const path = join(folder.dir, fileName);
  try {
    const { listed } = folder.check(path);
    // A document of an envelope never changes. One that is gone is only downloaded again if it is the same.
    const expected = what === null || options.force ? undefined : listed;
    const { seal, etag, ...saved } = await save(bucket, key, path, expected, options);
    await folder.record(path, { sha256: saved.sha256, etag });
    return { result: { envelopeId, what, key, path, ...saved, error: null }, seal };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw localError(error, path);
  }
}

async function save(
  bucket: Bucket,
  key: string,
  path: string,
  expected: string | undefined,
  options: DownloadOptions,
): Promise<Saved> {
  const file = openExisting(path, options);
  if (file === undefined) return download(bucket, key, path, { ...options, expected });
  try {
    const existing = await hashesOf(file);
    const opened = await openUnlessSame(bucket, key, path, existing, options);
    if (opened !== 'same') return await download(bucket, key, path, { ...options, opened, existing });
    const seal = await sealIn(file, options.signal);
    return { ...existing, status: 'unchanged', proof: 'etag', etag: undefined, seal };
  } finally {
    closeSync(file);
  }
}

/**
 * Opens the object unless the existing file is the same. Returns undefined if only the bytes can be compared.
 * @throws StorageError STORAGE_LOCAL if it differs and the file must not be replaced.
 */
async function openUnlessSame(
  bucket: Bucket,
  key: string,
  path: string,
  existing: Existing,
  { folder, signal, force }: DownloadOptions,
): Promise<OpenedObject | 'same' | undefined> {
  const { saved } = folder.check(path);
  const recorded = saved?.sha256 === existing.sha256 ? saved.etag : undefined;
  const md5 = existing.md5 === undefined ? undefined : `"${existing.md5}"`;
  const answer = await bucket.open(key, { ifNoneMatch: isStrong(recorded) ? recorded : md5, signal });
  if (answer.kind === 'same') return 'same';
  if (answer.kind === 'changed') return undefined;
  if (force || recorded !== undefined || !isDifferent(existing, answer.facts)) return answer;
  answer.cancel();
  throw differs(path);
}

interface Download extends DownloadOptions {
  opened?: OpenedObject | undefined;
  /** The file that has the final name now. */
  existing?: Existing | undefined;
  /** The only content that may be saved, by its SHA-256. */
  expected?: string | undefined;
}

/** Downloads the object to its part file and gives it its final name. */
async function download(bucket: Bucket, key: string, path: string, options: Download): Promise<Saved> {
  const part = openPart(`${path}.part`, options.opened);
  let isUseful = false;
  try {
    const begun = options.opened === undefined ? await begunIn(part, bucket, key, options) : undefined;
    if (begun === undefined && part.length > 0) part.restart();
    const { facts, hash, seal } = await fetchInto(part, bucket, key, { ...options, begun });
    const status = await publish(part, path, hash.sha256, options);
    const isMd5 = facts.md5 !== undefined && !hash.hasOtherEtag;
    const proof = hash.proof ?? (isSealed(seal) ? 'seal' : 'size');
    return {
      bytes: hash.bytes,
      sha256: hash.sha256,
      status,
      proof,
      etag: isMd5 ? undefined : facts.etag,
      seal,
    };
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

/** Opens the part file. Frees the connection of an object that is already open if that fails. */
function openPart(path: string, opened: OpenedObject | undefined): PartFile {
  try {
    return PartFile.open(path);
  } catch (error) {
    opened?.cancel();
    throw error;
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
): Promise<Begun | undefined> {
  if (part.length === 0) return undefined;
  const facts = await bucket.head(key, signal);
  if (!isProvable(facts) || !isStrong(facts.etag) || facts.size === undefined || part.length > facts.size)
    return undefined;
  const digest = new Digest(key, facts);
  try {
    for await (const block of part.blocks()) digest.update(block);
    return { facts, digest };
  } catch (error) {
    if (codeOf(error) === 'STORAGE_CORRUPT') return undefined;
    throw error;
  }
}

/**
 * Transfers the object into the part file and reads its seal. If its ETag looks like an MD5 and isn't the one of these bytes, and no seal
 * covers them, they are fetched a second time: the same bytes again mean that the ETag is something else. A seal proves nothing about bytes
 * that an earlier run left, because they can be an older version of the object.
 * @throws StorageError STORAGE_CORRUPT if the bytes are wrong.
 */
async function fetchInto(part: PartFile, bucket: Bucket, key: string, options: TransferOptions) {
  const first = await transfer(bucket, key, part, options);
  const seal = await sealIn(part.file, options.signal);
  const isFresh = options.begun === undefined;
  if (!first.hash.hasOtherEtag || (isFresh && isSealed(seal))) return { ...first, seal };
  part.restart();
  const { clock, signal } = options;
  const second = await transfer(bucket, key, part, { clock, signal });
  const result = { ...second, seal: await sealIn(part.file, signal) };
  const isProven = second.hash.sha256 === first.hash.sha256 || isSealed(result.seal);
  if (second.hash.hasOtherEtag && !isProven) throw wrongEtag(key);
  return result;
}

/** Returns true if a seal covers every byte of the file, so that it proves the content without the bucket. */
function isSealed(checked: CheckedSeal | null): boolean {
  return checked?.seal.state === 'intact' && checked.seal.coverage === 'whole';
}

/** Reads the seal of an open file. The code is loaded on first use. */
async function sealIn(file: number, signal: AbortSignal | undefined): Promise<CheckedSeal | null> {
  const { checkSeal } = await import('../seal/check-seal.ts');
  return checkSeal(file, signal);
}

/** Gives the part file its final name, unless the same file has it already. */
async function publish(
  part: PartFile,
  path: string,
  sha256: string,
  { existing, expected, force, folder }: Download,
): Promise<Saved['status']> {
  if (existing?.sha256 === sha256) return 'unchanged';
  const isTaken = existing !== undefined || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (isTaken && !force) throw differs(path);
  if (expected !== undefined && expected !== sha256)
    throw new StorageError(
      'STORAGE_LOCAL',
      `${path} was not saved: its SHA-256 differs from the one in ${join(folder.dir, MANIFEST_NAME)}, so it has changed in the bucket.`,
      { hint: 'Use --force to accept the new content, or --dir to use a different folder.' },
    );
  await part.publish(path);
  return 'downloaded';
}

/** Returns false if the file is the object, or if only comparing the bytes could show a difference. */
function isDifferent(file: Existing, facts: ObjectFacts): boolean {
  if (facts.size !== undefined && facts.size !== file.bytes) return true;
  return facts.md5 !== undefined && facts.md5 !== file.md5;
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

async function hashesOf(file: number): Promise<Existing> {
  const [sha256, md5] = [createHash('sha256'), startMd5()];
  let bytes = 0;
  for await (const block of blocksOf(file)) {
    bytes += block.byteLength;
    sha256.update(block);
    md5?.update(block);
  }
  return { bytes, sha256: sha256.digest('hex'), md5: md5?.digest('hex') };
}
