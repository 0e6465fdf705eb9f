import { hash } from 'node:crypto';
import { copyFileSync, linkSync, rmSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { syncFolder } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { ifExists } from '../../kernel/files/regular-file.ts';
import type { Body } from './checksums.ts';
import { KeyIndex } from './key-index.ts';
import {
  openObjectFile,
  readObjectFactsAtOnce,
  type StoredObject,
  type StoredObjectFacts,
  TEMPORARY,
  writeObjectFile,
} from './object-file.ts';
import { S3Error } from './s3-error.ts';

/*
 * Buckets are folders and objects are files in them. Each file is named after the hash of its key, so that no key can escape the folder,
 * and `a` and `a/b` can both exist.
 */

/** The properties of an object that its upload sets. */
export type PutFacts = Pick<StoredObjectFacts, 'contentType' | 'metadata' | 'headers' | 'byService'>;

type MissListener = (bucket: string, key: string) => Promise<boolean>;

export interface PutOptions {
  /** Checks the current object; may throw. Called in the same tick in which the object is replaced. */
  guard?: (current: StoredObjectFacts | undefined) => void;
}

const BUCKET_NAME = /^(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const OBJECT_FILE = /^[0-9a-f]{64}$/;
/** The number of files after which the event loop gets a turn. */
const FILES_PER_TICK = 64;
const MAX_KEY_BYTES = 1024;

export class ObjectStore {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #missListeners: MissListener[] = [];
  readonly #indexes = new Map<string, KeyIndex>();

  private constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Opens a folder: indexes all its objects and deletes the files of interrupted uploads. */
  static async open(folder: string, now: () => number): Promise<ObjectStore> {
    const store = new ObjectStore(folder, now);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && BUCKET_NAME.test(entry.name)) await store.#loadIndex(entry.name);
    }
    return store;
  }

  /** Creates a bucket. Does nothing if it exists. @throws S3Error InvalidBucketName. */
  async makeBucket(name: string): Promise<void> {
    if (!BUCKET_NAME.test(name)) throw new S3Error('InvalidBucketName', 'The specified bucket is not valid.');
    if (this.#indexes.has(name)) return;
    makeFolder(join(this.#folder, name), 0o700);
    await syncFolder(this.#folder);
    if (!this.#indexes.has(name)) this.#indexes.set(name, new KeyIndex([]));
  }

  /** Returns the names of the buckets in order, and when each was created. */
  async buckets(): Promise<{ name: string; createdAt: Date }[]> {
    return Promise.all(
      [...this.#indexes.keys()]
        .sort()
        .map(async (name) => ({ name, createdAt: (await stat(this.folderOf(name))).birthtime })),
    );
  }

  /** Returns the folder with a bucket's files. @throws S3Error NoSuchBucket. */
  folderOf(bucket: string): string {
    this.index(bucket);
    return join(this.#folder, bucket);
  }

  /** Returns the objects of a bucket in order. @throws S3Error NoSuchBucket. */
  index(bucket: string): KeyIndex {
    const index = this.#indexes.get(bucket);
    if (index === undefined) throw new S3Error('NoSuchBucket', 'The specified bucket does not exist.');
    return index;
  }

  /** Stores an object once its body is complete and verified. @throws S3Error. */
  async put(
    bucket: string,
    key: string,
    body: Body,
    facts: PutFacts,
    options: PutOptions = {},
  ): Promise<StoredObjectFacts> {
    const index = this.index(bucket);
    checkKey(key);
    // The rename and the index change happen in one tick, so that after two uploads of a key, lists show the one that is stored.
    return writeObjectFile(
      this.#pathOf(bucket, key),
      body.chunks,
      ({ size, etag }) => ({
        key,
        size,
        ...facts,
        ...this.stamp(),
        etag,
        checksums: body.check(),
      }),
      (stored, rename) => {
        options.guard?.(index.get(key));
        rename();
        index.set(stored);
      },
    );
  }

  /** Opens an object for reading; undefined if it doesn't exist. @throws S3Error NoSuchBucket */
  async open(bucket: string, key: string): Promise<StoredObject | undefined> {
    this.index(bucket);
    return ifExists(openObjectFile(this.#pathOf(bucket, key)));
  }

  /** Deletes an object. Does nothing if it doesn't exist. @throws S3Error NoSuchBucket. */
  async remove(bucket: string, key: string, guard?: PutOptions['guard']): Promise<void> {
    const index = this.index(bucket);
    guard?.(index.get(key));
    rmSync(this.#pathOf(bucket, key), { force: true });
    index.delete(key);
    await syncFolder(this.folderOf(bucket));
  }

  /** Deletes the objects that the service wrote and that no other client has replaced: all of them, or those with the given keys. */
  async clearOfService(bucket: string, keys?: readonly string[]): Promise<void> {
    const index = this.index(bucket);
    const named = keys?.flatMap((key) => index.get(key) ?? []) ?? [...index.from('')];
    for (const [at, facts] of named.filter(({ byService }) => byService).entries()) {
      if (at % FILES_PER_TICK === FILES_PER_TICK - 1) await setImmediate();
      if (index.get(facts.key) !== facts) continue;
      rmSync(this.#pathOf(bucket, facts.key), { force: true });
      index.delete(facts.key);
    }
    await syncFolder(this.folderOf(bucket));
  }

  /** Saves the objects that the service wrote to a folder. An object's file never changes, so a hard link is enough. */
  async saveOfService(bucket: string, folder: string): Promise<void> {
    const objects = [...this.index(bucket).from('')].filter(({ byService }) => byService);
    for (const [at, { key }] of objects.entries()) {
      if (at % FILES_PER_TICK === FILES_PER_TICK - 1) await setImmediate();
      const path = this.#pathOf(bucket, key);
      linkOrCopy(path, join(folder, basename(path)));
    }
  }

  /**
   * Restores the objects that `saveOfService` saved to a folder, and deletes those that the service wrote since. Objects of other clients
   * are kept.
   */
  async restoreOfService(bucket: string, folder: string): Promise<void> {
    const index = this.index(bucket);
    const kept = new Set(await readdir(folder));
    for (const { key, byService } of [...index.from('')]) {
      const path = this.#pathOf(bucket, key);
      const name = basename(path);
      if (byService && kept.has(name) && isSameFile(path, join(folder, name))) kept.delete(name);
      else if (byService) {
        rmSync(path, { force: true });
        index.delete(key);
      } else kept.delete(name);
    }
    for (const [at, name] of [...kept].entries()) {
      if (at % FILES_PER_TICK === FILES_PER_TICK - 1) await setImmediate();
      const path = join(this.#folder, bucket, name);
      linkOrCopy(join(folder, name), path);
      index.set(readObjectFactsAtOnce(path));
    }
    await syncFolder(this.folderOf(bucket));
  }

  /** Adds a listener for reads of objects that don't exist. */
  onMiss(listener: MissListener): void {
    this.#missListeners.push(listener);
  }

  /** Notifies the listeners of a read that found nothing. Returns true if the object exists now. */
  async missed(bucket: string, key: string): Promise<boolean> {
    let isStored = false;
    for (const listener of this.#missListeners) isStored = (await listener(bucket, key)) || isStored;
    return isStored;
  }

  /** Returns the time of storage for an object that is stored now. */
  stamp(): Pick<StoredObjectFacts, 'modifiedAt'> {
    return { modifiedAt: new Date(this.#now()).toISOString() };
  }

  async #loadIndex(bucket: string): Promise<void> {
    const folder = join(this.#folder, bucket);
    const names = await readdir(folder);
    for (const name of names.filter((one) => TEMPORARY.test(one))) await rm(join(folder, name));
    const files = names.filter((name) => OBJECT_FILE.test(name));
    const objects = files.map((name) => readObjectFactsAtOnce(join(folder, name)));
    this.#indexes.set(bucket, new KeyIndex(objects));
  }

  #pathOf(bucket: string, key: string): string {
    return join(this.#folder, bucket, hash('sha256', key));
  }
}

/** Links a file, or copies it on a file system without hard links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one), statSync(other)];
  return a.ino === b.ino && a.dev === b.dev && a.ino !== 0;
}

function checkKey(key: string): void {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES)
    throw new S3Error('KeyTooLongError', 'Your key is too long: 1024 bytes of UTF-8 are allowed.');
  if (key === '' || /\p{Cs}/u.test(key)) throw new S3Error('InvalidURI', 'The key is not valid.');
}
