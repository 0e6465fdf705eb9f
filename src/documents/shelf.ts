import { closeSync, fsync, lstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../kernel/errors.ts';
import type { ObjectFacts } from './bucket/object-facts.ts';
import { type Counted, Digest } from './download/digest.ts';

const sync = promisify(fsync);

/** A whole object and where it goes. */
export interface ShelfTask {
  key: string;
  facts: ObjectFacts;
  bytes: Uint8Array;
  /** Its name until it is durable. */
  part: string;
  path: string;
}

/** What the object is; `occupied` where something stands in its way, and nothing was done. */
export type Shelved = Counted | 'occupied';

/**
 * Whole objects on their way to the disk. Each is proven and written at once, with calls that wait: handing each call
 * to another thread takes longer than the call. Only making them durable is done for many at once, while others are
 * written. None gets its name before its own bytes are durable.
 */
export class Shelf {
  private waiting: (() => Promise<void>)[] = [];
  private settling = false;

  /** Resolves when the object has its name. */
  put(task: ShelfTask): Promise<Shelved> {
    return new Promise((resolve, reject) => {
      try {
        const counted = proven(task);
        const file = lay(task);
        if (file === undefined) return resolve('occupied');
        this.waiting.push(() => settle(file, task, counted).then(resolve, reject));
        this.settleSoon();
      } catch (error) {
        reject(error);
      }
    });
  }

  private settleSoon(): void {
    if (this.settling) return;
    this.settling = true;
    setImmediate(() => void this.settleAll());
  }

  /** What came together is made durable together, and what comes meanwhile after it. */
  private async settleAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      await Promise.all(group.map((work) => work()));
    }
    this.settling = false;
  }
}

function proven({ key, facts, bytes }: ShelfTask): Counted {
  const digest = new Digest(key, facts);
  digest.update(bytes);
  return digest.result();
}

/** The written part file, not durable yet; undefined where there is one. */
function lay(task: ShelfTask): number | undefined {
  const file = openNew(task.part);
  if (file === undefined) return undefined;
  try {
    for (let done = 0; done < task.bytes.byteLength; ) done += writeSync(file, task.bytes, done);
    return file;
  } catch (error) {
    abandon(file, task.part);
    throw error;
  }
}

function openNew(path: string): number | undefined {
  for (let made = false; ; made = true) {
    try {
      return openSync(path, 'wx', 0o600);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return undefined;
      if (codeOf(error) !== 'ENOENT' || made) throw error;
      mkdirSync(dirname(path), { recursive: true });
    }
  }
}

async function settle(file: number, { part, path }: ShelfTask, counted: Counted): Promise<Shelved> {
  try {
    await sync(file);
  } catch (error) {
    abandon(file, part);
    throw error;
  }
  closeSync(file);
  try {
    // Another run may have been faster.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      renameSync(part, path);
      return counted;
    }
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  rmSync(part, { force: true });
  return 'occupied';
}

function abandon(file: number, part: string): void {
  closeSync(file);
  rmSync(part, { force: true });
}

const FOLDERS_AT_ONCE = 64;

/** Makes the names in the folders durable; where folders can't be opened (Windows), they are. */
export async function syncFolders(folders: readonly string[]): Promise<void> {
  if (process.platform === 'win32') return;
  for (let from = 0; from < folders.length; from += FOLDERS_AT_ONCE) {
    const group = folders.slice(from, from + FOLDERS_AT_ONCE).map(async (folder) => {
      const file = openSync(folder, 'r');
      await sync(file).finally(() => closeSync(file));
    });
    await Promise.all(group);
  }
}
