import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StorageError } from '../kernel/errors.ts';
import type { ObjectFacts } from './bucket/object-facts.ts';
import type { Counted } from './download/digest.ts';
import type { ShelfTask, Shelved } from './shelf.ts';

/** A file to be proven, a whole object to be put under its name, or folders whose names are to be durable. */
export type FileTask = { id: number } & (
  | { kind: 'prove'; path: string; key: string; facts: ObjectFacts }
  | ({ kind: 'put' } & ShelfTask)
  | { kind: 'sync'; folders: readonly string[] }
);

/** An error as it goes from one thread to the other. */
interface Failure {
  id: number;
  message: string;
  code: string | undefined;
  hint: string | undefined;
  /** The bytes were not the object's. */
  refused: boolean;
}

export type FileAnswer = { id: number; result: Shelved | undefined } | Failure;

interface Waiting {
  resolve(result: Shelved | undefined): void;
  reject(error: Error): void;
}

/** Where the build puts the thread's program, seen from the build's chunks; from sources there is none. */
const PROGRAM = fileURLToPath(new URL('../documents/file-worker.js', import.meta.url));
/** Bytes that may wait for the disk before fetching waits as well. */
const AHEAD = 4 * 1024 * 1024;

/**
 * A thread that proves and writes files beside the one that fetches them: of many small files that is what takes
 * longest.
 */
export class FileThread {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private tasks: FileTask[] = [];
  private bytes = 0;
  private next = 0;
  private failed: Error | undefined;

  private constructor() {
    this.worker = new Worker(PROGRAM, {
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    });
    this.worker.unref();
    this.worker.on('message', (answers: FileAnswer[]) => {
      for (const answer of answers) this.take(answer);
    });
    this.worker.on('error', (error) => this.fail(error));
  }

  /** Undefined where there is no program for it; files are then proven where they are fetched. */
  static start(): FileThread | undefined {
    return existsSync(PROGRAM) ? new FileThread() : undefined;
  }

  /** True while more may be fetched than the disk has taken. */
  get hasRoom(): boolean {
    return this.bytes < AHEAD;
  }

  /** @throws StorageError STORAGE_CORRUPT when the file is not the object. */
  async prove(path: string, key: string, facts: ObjectFacts): Promise<Counted> {
    const result = await this.ask({ id: this.next++, kind: 'prove', path, key, facts });
    if (result === undefined || result === 'occupied') throw new Error('the thread gave no answer');
    return result;
  }

  /**
   * Puts a whole object under its name, making the folder where it is missing.
   * @throws StorageError STORAGE_CORRUPT when the bytes are not the object.
   */
  async put(task: ShelfTask): Promise<Shelved> {
    this.bytes += task.bytes.byteLength;
    try {
      return (await this.ask({ id: this.next++, kind: 'put', ...task })) ?? 'occupied';
    } finally {
      this.bytes -= task.bytes.byteLength;
    }
  }

  /** Makes the names in the folders durable. */
  async sync(folders: readonly string[]): Promise<void> {
    await this.ask({ id: this.next++, kind: 'sync', folders });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  /** What is asked in the same moment goes in one message. */
  private ask(task: FileTask): Promise<Shelved | undefined> {
    if (this.failed !== undefined) return Promise.reject(this.failed);
    this.tasks.push(task);
    if (this.tasks.length === 1) setImmediate(() => this.send());
    return new Promise((resolve, reject) => {
      this.waiting.set(task.id, { resolve, reject });
      this.worker.ref();
    });
  }

  private send(): void {
    this.worker.postMessage(this.tasks);
    this.tasks = [];
  }

  private take(answer: FileAnswer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (this.waiting.size === 0) this.worker.unref();
    if ('result' in answer) waiting?.resolve(answer.result);
    else waiting?.reject(errorOf(answer));
  }

  private fail(error: Error): void {
    this.failed = error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

function errorOf({ message, code, hint, refused }: Failure): Error {
  if (refused) return new StorageError('STORAGE_CORRUPT', message, { hint });
  return Object.assign(new Error(message), { code });
}
