import { createHash } from 'node:crypto';
import { closeSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { codeOf, StorageError } from '../../kernel/errors.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import { Folders, type Place } from '../archive/folders.ts';
import type { Ledger } from '../archive/ledger.ts';
import { localError } from '../archive/local-error.ts';
import type { Bucket, OpenedObject } from '../bucket/bucket.ts';
import type { ObjectFacts } from '../bucket/object-facts.ts';
import type { Counted } from './digest.ts';
import type { WantedFile } from './papers.ts';
import { PartFile } from './part-file.ts';
import { type TransferOptions, type TransferWatch, transfer } from './transfer.ts';

/** A fetched file, as `--json` prints it. */
export interface FileResult {
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
  dir: string;
  /** Another name than the default one. */
  fileName?: string | undefined;
  /** Replace a different file of the same name. */
  force: boolean;
  signal?: AbortSignal | undefined;
  clock?: Clock | undefined;
  /** The folders of a run of several; without it the file is a run of its own. */
  folders?: Folders | undefined;
  /** Where the file is written down. */
  ledger?: Ledger | undefined;
  watch?: TransferWatch | undefined;
}

/**
 * Fetches one object into a file: streamed to a part file beside it, proven, fsynced, renamed.
 * Under the final name there is never a part and never something that is not the object. A file that is there
 * already is compared by what the bucket says of the object, without fetching its body.
 * @throws StorageError for anything that went wrong.
 */
export async function downloadFile(
  bucket: Bucket,
  wanted: WantedFile,
  options: DownloadOptions,
): Promise<FileResult> {
  const path = join(options.dir, options.fileName ?? wanted.fileName);
  const folders = options.folders ?? new Folders(options.dir);
  try {
    const place = await folders.place(path);
    const { status, bytes, sha256, etag } = await fetchTo(bucket, wanted.key, path, place, options);
    // Its folder first, since a list never names a file whose name is not durable.
    if (status === 'downloaded') folders.touched(dirname(path));
    await options.ledger?.record(path, sha256, etag);
    const { envelopeId, what, key } = wanted;
    return { envelopeId, what, key, path, bytes, sha256, status, error: null };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw localError(error, path);
  } finally {
    if (options.folders === undefined) await folders.close();
  }
}

interface Outcome extends Counted {
  status: 'downloaded' | 'unchanged';
  /** Where it does not tell the content. */
  etag?: string | undefined;
}

async function fetchTo(
  bucket: Bucket,
  key: string,
  path: string,
  place: Place,
  options: DownloadOptions,
): Promise<Outcome> {
  const existing = place.had ? await countFile(path) : undefined;
  const opened = existing && (await openIfOther(bucket, key, path, existing, options));
  if (existing !== undefined && opened === undefined) return { ...existing, status: 'unchanged' };
  const part = await PartFile.open(place.part, { bucket: bucket.name, key }, place.lasting);
  let done = false;
  try {
    const { facts, counted } = await fill(part, bucket, key, { ...options, opened });
    const status = await settle(part, path, counted, existing, options.force);
    done = true;
    return { ...counted, status, etag: facts.md5 === undefined ? facts.etag : undefined };
  } catch (error) {
    // Bytes that broke off are of use to the next run; bytes that were refused are not.
    const useful = options.signal?.aborted || codeOf(error) === 'STORAGE_UNREACHABLE';
    if (!done) useful ? part.keep() : part.discard();
    throw error;
  }
}

/**
 * The object where it may be another one than the file that is there; undefined where it is the same.
 * @throws StorageError STORAGE_LOCAL when it is another one and the file is not to be replaced.
 */
async function openIfOther(
  bucket: Bucket,
  key: string,
  path: string,
  existing: Counted & { md5: string },
  { ledger, signal, force }: DownloadOptions,
): Promise<OpenedObject | undefined> {
  const ifNoneMatch = ledger?.etagOf(path, existing.sha256) ?? `"${existing.md5}"`;
  const answer = await bucket.open(key, { ifNoneMatch, signal });
  if (answer.kind !== 'object') return undefined;
  if (force || !isOther(existing, answer.facts)) return answer;
  answer.cancel();
  throw different(path);
}

/** The whole object in the part file, proven. What a resume put together wrongly is fetched once more, from the start. */
async function fill(
  part: PartFile,
  bucket: Bucket,
  key: string,
  options: DownloadOptions & { opened: OpenedObject | undefined },
): Promise<{ facts: ObjectFacts; counted: Counted }> {
  const { signal, watch, opened } = options;
  const common: TransferOptions = { clock: options.clock ?? systemClock, signal, watch };
  if (part.known !== undefined) {
    opened?.cancel();
    watch?.expect(part.known.size ?? 0);
    watch?.arrive(part.length);
  }
  const first = part.known === undefined ? { ...common, opened } : { ...common, known: part.known };
  const came = await transfer(bucket, key, part, first);
  try {
    return { facts: came.facts, counted: await part.prove(came.facts) };
  } catch (error) {
    if (!came.resumed || codeOf(error) !== 'STORAGE_CORRUPT') throw error;
    watch?.expect(-(came.facts.size ?? 0));
    watch?.arrive(-part.length);
    part.restart();
    const again = await transfer(bucket, key, part, common);
    return { facts: again.facts, counted: await part.prove(again.facts) };
  }
}

async function settle(
  part: PartFile,
  path: string,
  counted: Counted,
  existing: Counted | undefined,
  force: boolean,
): Promise<Outcome['status']> {
  // Another run may have been faster.
  const there = existing ?? (await countFile(path));
  if (there?.sha256 === counted.sha256) {
    part.discard();
    return 'unchanged';
  }
  if (!force && there !== undefined) throw different(path);
  await part.publish(path);
  return 'downloaded';
}

/** True when the file can't be the object; false when it is, or when only its bytes could tell. */
function isOther(file: Counted & { md5: string }, facts: ObjectFacts): boolean {
  if (facts.size !== undefined && facts.size !== file.bytes) return true;
  return facts.md5 !== undefined && facts.md5 !== file.md5;
}

function different(path: string): StorageError {
  return new StorageError('STORAGE_LOCAL', `${path} exists and is different; it was left as it is.`, {
    hint: 'Give --force to replace it, or --dir for another folder.',
  });
}

/** What a file holds; undefined where there is none. */
async function countFile(path: string): Promise<(Counted & { md5: string }) | undefined> {
  // Of a new file there is nothing, and opening nothing costs ten times as much as asking.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const file = openRegular(path);
  if (file === undefined) return undefined;
  try {
    const [sha256, md5] = [createHash('sha256'), createHash('md5')];
    let bytes = 0;
    for await (const block of blocksOf(file)) {
      bytes += block.byteLength;
      sha256.update(block);
      md5.update(block);
    }
    return { bytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') };
  } finally {
    closeSync(file);
  }
}
