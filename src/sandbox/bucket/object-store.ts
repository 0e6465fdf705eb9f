import { hash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Crc64Nvme } from '@aws-sdk/checksums/crc';
import { startMd5 } from '../../kernel/digest.ts';
import { makePrivateFolder } from '../../kernel/files/files.ts';
import type { ObjectWriter } from '../model.ts';

/** The properties of an object that S3 returns to clients. */
export interface StoredObjectFacts {
  size: number;
  /** The ETag without quotation marks: the MD5 of the bytes in hex, if this Node can compute it. */
  etag: string;
  /** The CRC-64/NVME of the bytes in base64. */
  checksum: Promise<string>;
  modifiedAt: Date;
}

export interface StoredObject {
  facts: StoredObjectFacts;
  body: Buffer;
}

/** The end of the name of an object's file. Before it is the encoded key, so that no key can escape the folder. */
const SUFFIX = '.object';

/** The bucket's objects: one file for each, in one folder. */
export class ObjectStore implements ObjectWriter {
  readonly #folder: string;
  /** The facts by key. Those of objects from an earlier start are computed when they are first needed. */
  readonly #facts = new Map<string, StoredObjectFacts | undefined>();
  #onRead = (_key: string) => Promise.resolve(true);

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens a folder, created if missing. */
  static async open(folder: string): Promise<ObjectStore> {
    await makePrivateFolder(folder);
    const store = new ObjectStore(folder);
    for (const name of await readdir(folder))
      if (name.endsWith(SUFFIX))
        store.#facts.set(decodeURIComponent(name.slice(0, -SUFFIX.length)), undefined);
    return store;
  }

  /** Returns the keys in the order of S3's lists. */
  keys(): string[] {
    return [...this.#facts.keys()].sort();
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const draft = join(this.#folder, `${randomBytes(8).toString('hex')}.tmp`);
    await writeFile(draft, body, { mode: 0o600 });
    // Both happen in one tick, so that nobody reads the bytes of one version with the facts of another.
    renameSync(draft, this.#pathOf(key));
    this.#facts.set(key, factsOf(body, new Date()));
  }

  /** Returns an object for another client, unless the listener hides it. */
  async read(key: string): Promise<StoredObject | undefined> {
    return (await this.#onRead(key)) ? this.load(key) : undefined;
  }

  async get(key: string): Promise<Uint8Array | null> {
    return this.load(key)?.body ?? null;
  }

  /** Returns the facts of an object, or undefined if it doesn't exist. Reads it only if they aren't known yet. */
  facts(key: string): StoredObjectFacts | undefined {
    return this.#facts.get(key) ?? this.load(key)?.facts;
  }

  /** Returns an object, or undefined if it doesn't exist. */
  load(key: string): StoredObject | undefined {
    if (!this.#facts.has(key)) return undefined;
    const path = this.#pathOf(key);
    const body = readFileSync(path);
    const facts = this.#facts.get(key) ?? factsOf(body, statSync(path).mtime);
    this.#facts.set(key, facts);
    return { facts, body };
  }

  async clear(keys: readonly string[] = this.keys()): Promise<void> {
    for (const key of keys) {
      rmSync(this.#pathOf(key), { force: true });
      this.#facts.delete(key);
    }
  }

  onRead(listener: (key: string) => Promise<boolean>): void {
    this.#onRead = listener;
  }

  #pathOf(key: string): string {
    return join(this.#folder, `${encodeURIComponent(key)}${SUFFIX}`);
  }
}

function factsOf(body: Uint8Array, modifiedAt: Date): StoredObjectFacts {
  const crc = new Crc64Nvme();
  crc.update(body);
  const checksum = crc.digest().then((digest) => Buffer.from(digest).toString('base64'));
  // In FIPS mode, the ETag looks like that of a multipart upload, so that no client mistakes it for an MD5.
  const etag = startMd5()?.update(body).digest('hex') ?? `${hash('sha256', body).slice(0, 32)}-1`;
  return { size: body.byteLength, etag, checksum, modifiedAt };
}
