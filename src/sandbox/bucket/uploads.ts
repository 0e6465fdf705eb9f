import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { codeOf } from '../../kernel/errors.ts';
import { writeFileAtomic } from '../../kernel/files.ts';
import { parseJson } from '../../kernel/json.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { type Body, CHECKSUM_ALGORITHMS, checksumHeader, startChecksum, summed } from './checksums.ts';
import { unquoted } from './conditions.ts';
import {
  type ObjectFacts,
  openObjectFile,
  readObjectFacts,
  TEMPORARY,
  writeObjectFile,
} from './object-file.ts';
import type { ObjectStore, PutOptions } from './object-store.ts';
import { S3Error } from './s3-error.ts';

/*
 * Multipart uploads: a folder each inside the bucket's, with the parts as object files named by their numbers.
 * It outlives a restart and goes when the upload is completed or aborted.
 */

const uploadSchema = z.object({
  key: z.string(),
  contentType: z.string(),
  metadata: z.record(z.string(), z.string()),
  headers: z.record(z.string(), z.string()),
  algorithm: z.enum(CHECKSUM_ALGORITHMS),
  /** COMPOSITE: a checksum of the parts' checksums; FULL_OBJECT: one over all bytes. */
  checksumType: z.enum(['COMPOSITE', 'FULL_OBJECT']),
  /** ISO 8601. */
  startedAt: z.string().default('1970-01-01T00:00:00.000Z'),
});
export type Upload = z.infer<typeof uploadSchema>;

/** An upload that has neither been completed nor aborted. */
export interface OpenUpload extends Upload {
  id: string;
}

/** Which upload is meant; the key must be the one it was begun with. */
export interface UploadName {
  bucket: string;
  key: string;
  id: string;
}

export interface PartName {
  number: number;
  /** As the client remembers it. */
  etag: string;
  /** The part's checksums as the client remembers them, header name to base64. */
  checksums: Record<string, string>;
}

export interface CompleteOptions {
  maxBytes: number;
  /** Judges the object that would be replaced. */
  guard: NonNullable<PutOptions['guard']>;
  /** Judges the checksums of the whole. */
  accept: (checksums: Record<string, string>) => void;
}

export interface Part {
  number: number;
  facts: ObjectFacts;
}

const OPEN_AT_ONCE = 32;
const MIN_PART_BYTES = 5 * 1024 * 1024;
const FOLDER = '.uploads';
const ABOUT = 'upload.json';
const UPLOAD_ID = /^[0-9a-f]{32}$/;
/** What an upload's folder is called once it has ended. */
const GONE = '.gone';

export class Uploads {
  private readonly store: ObjectStore;

  private constructor(store: ObjectStore) {
    this.store = store;
  }

  /** Takes up the unfinished uploads of all buckets, and clears away what a crash left of them. */
  static async open(store: ObjectStore): Promise<Uploads> {
    for (const { name } of await store.buckets()) await clearFolder(join(store.folderOf(name), FOLDER));
    return new Uploads(store);
  }

  /** Begins an upload and returns its id. */
  async begin(bucket: string, upload: Omit<Upload, 'startedAt'>): Promise<string> {
    const id = randomBytes(16).toString('hex');
    const folder = join(this.store.folderOf(bucket), FOLDER, id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const started: Upload = { ...upload, startedAt: this.store.stamp().modifiedAt };
    await writeFileAtomic(join(folder, ABOUT), JSON.stringify(started));
    return id;
  }

  /** All that are open in a bucket, in no order. */
  async list(bucket: string): Promise<OpenUpload[]> {
    const folder = join(this.store.folderOf(bucket), FOLDER);
    const ids = (await readdir(folder).catch(orNothing)).filter((id) => UPLOAD_ID.test(id));
    const read = async (id: string): Promise<OpenUpload[]> => {
      // One that ends meanwhile is not open any more.
      const about = await readFile(join(folder, id, ABOUT), 'utf8').catch(orNothing);
      return typeof about === 'string' ? [{ id, ...uploadSchema.parse(parseJson(about)) }] : [];
    };
    const open: OpenUpload[] = [];
    for await (const found of mapInOrder(ids, OPEN_AT_ONCE, read)) open.push(...found);
    return open;
  }

  /** @throws S3Error NoSuchUpload. */
  async find(name: UploadName): Promise<Upload> {
    const upload = await readFile(join(this.folderOf(name), ABOUT), 'utf8').catch(orNoSuchUpload);
    const found = uploadSchema.parse(parseJson(upload));
    if (found.key !== name.key) throw noSuchUpload();
    return found;
  }

  /** Stores a part, in place of an earlier one of that number. */
  async putPart(name: UploadName, number: number, upload: Upload, body: Body): Promise<ObjectFacts> {
    const describe = ({ size, md5 }: { size: number; md5: string }) => ({
      ...{ key: name.key, size, etag: md5, contentType: '', metadata: {}, headers: {} },
      ...this.store.stamp(),
      checksums: checkedAlgorithm(upload, body.check()),
    });
    return writeObjectFile(join(this.folderOf(name), String(number)), body.chunks, describe).catch(
      orNoSuchUpload,
    );
  }

  /** All parts in the order of their numbers. */
  async parts(name: UploadName): Promise<Part[]> {
    const folder = this.folderOf(name);
    const names = await readdir(folder).catch(orNoSuchUpload);
    const numbers = names.filter((one) => /^\d+$/.test(one)).map(Number);
    const read = async (number: number) => ({
      number,
      facts: await readObjectFacts(join(folder, String(number))).catch(orNoSuchUpload),
    });
    const parts: Part[] = [];
    for await (const part of mapInOrder(
      numbers.sort((a, b) => a - b),
      OPEN_AT_ONCE,
      read,
    ))
      parts.push(part);
    return parts;
  }

  /**
   * Makes the object out of the parts named.
   * @throws S3Error InvalidPart, InvalidPartOrder, EntityTooSmall as S3 does; whatever `accept` throws.
   */
  async complete(
    name: UploadName,
    wanted: readonly PartName[],
    options: CompleteOptions,
  ): Promise<ObjectFacts> {
    const upload = await this.find(name);
    const parts = chosen(wanted, await this.parts(name));
    if (parts.reduce((sum, { facts }) => sum + facts.size, 0) > options.maxBytes)
      throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size.');
    const whole = summed(this.bytesOf(name, parts), upload.algorithm);
    const check = () => {
      const full = whole.check();
      const checksums = upload.checksumType === 'FULL_OBJECT' ? full : composite(upload, parts);
      options.accept(checksums);
      return checksums;
    };
    const guard: CompleteOptions['guard'] = (current) => {
      if (!existsSync(this.folderOf(name))) throw noSuchUpload();
      options.guard(current);
    };
    const { contentType, metadata, headers } = upload;
    const md5s = Buffer.from(parts.map(({ facts }) => facts.etag).join(''), 'hex');
    const stored = await this.store.put(
      name.bucket,
      name.key,
      { chunks: whole.chunks, check },
      { contentType, metadata, headers },
      { guard, etag: `${createHash('md5').update(md5s).digest('hex')}-${parts.length}` },
    );
    await this.discard(name);
    return stored;
  }

  /** Throws the parts away. @throws S3Error NoSuchUpload. */
  async abort(name: UploadName): Promise<void> {
    await this.find(name);
    await this.discard(name);
  }

  private async *bytesOf(name: UploadName, parts: readonly Part[]): AsyncGenerator<Uint8Array> {
    for (const { number, facts } of parts) {
      const part = await openObjectFile(join(this.folderOf(name), String(number))).catch(orNoSuchUpload);
      try {
        // Replaced since it was chosen: the object's ETag is made of the one before.
        if (part.facts.etag !== facts.etag) throw invalidPart(number);
        yield* part.read(0, part.facts.size);
      } finally {
        await part.close();
      }
    }
  }

  /** Ends an upload at once: parts that are still on the way find no folder to appear in. */
  private async discard(name: UploadName): Promise<void> {
    const folder = this.folderOf(name);
    await rename(folder, `${folder}${GONE}`).catch(orNothing);
    // A file that was just being made when the folder moved can still appear in it.
    await rm(`${folder}${GONE}`, { recursive: true, force: true, maxRetries: 5, retryDelay: 10 });
  }

  private folderOf({ bucket, id }: UploadName): string {
    if (!UPLOAD_ID.test(id)) throw noSuchUpload();
    return join(this.store.folderOf(bucket), FOLDER, id);
  }
}

/** The parts that the client names, as they are stored. */
function chosen(wanted: readonly PartName[], stored: readonly Part[]): Part[] {
  if (wanted.some(({ number }, at) => number <= (wanted[at - 1]?.number ?? 0)))
    throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order.');
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  const parts = wanted.map(({ number, etag, checksums }) => {
    const part = byNumber.get(number);
    const isSame = Object.entries(checksums).every(([name, value]) => part?.facts.checksums[name] === value);
    if (part === undefined || part.facts.etag !== unquoted(etag) || !isSame) throw invalidPart(number);
    return part;
  });
  if (parts.slice(0, -1).some(({ facts }) => facts.size < MIN_PART_BYTES))
    throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size.');
  return parts;
}

function composite(upload: Upload, parts: readonly Part[]): Record<string, string> {
  const name = checksumHeader(upload.algorithm);
  const sum = startChecksum(upload.algorithm);
  for (const { facts } of parts) sum.update(Buffer.from(facts.checksums[name] ?? '', 'base64'));
  return { [name]: `${sum.digest().toString('base64')}-${parts.length}` };
}

/** A checksum of checksums can only be made when all parts have the same kind. */
function checkedAlgorithm(upload: Upload, checksums: Record<string, string>): Record<string, string> {
  if (upload.checksumType === 'COMPOSITE' && !(checksumHeader(upload.algorithm) in checksums)) {
    throw new S3Error('InvalidRequest', `Checksum Type mismatch occurred, expected: ${upload.algorithm}.`);
  }
  return checksums;
}

function orNoSuchUpload(error: unknown): never {
  throw codeOf(error) === 'ENOENT' ? noSuchUpload() : error;
}

/** A folder without its description was never begun or has ended; a temporary file is half a part. */
async function clearFolder(folder: string): Promise<void> {
  const entries = await readdir(folder).catch(orNothing);
  for (const entry of entries.filter((one) => UPLOAD_ID.test(one.replace(GONE, '')))) {
    const files = await readdir(join(folder, entry));
    const isWhole = UPLOAD_ID.test(entry) && files.includes(ABOUT);
    const left = isWhole ? files.filter((name) => TEMPORARY.test(name)) : [''];
    for (const name of left) await rm(join(folder, entry, name), { recursive: true, force: true });
  }
}

function orNothing(error: unknown): [] {
  if (codeOf(error) === 'ENOENT') return [];
  throw error;
}

function invalidPart(number: number): S3Error {
  return new S3Error('InvalidPart', 'One or more of the specified parts could not be found.', {
    PartNumber: String(number),
  });
}

function noSuchUpload(): S3Error {
  return new S3Error(
    'NoSuchUpload',
    'The specified upload does not exist; it may have been completed or aborted.',
  );
}
