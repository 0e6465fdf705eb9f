import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StorageError } from '../kernel/errors.ts';
import type { Counted } from './digest.ts';
import type { ObjectFacts } from './object-facts.ts';

/** A file to be proven to be the object of these facts. */
export interface HashTask {
  id: number;
  path: string;
  key: string;
  facts: ObjectFacts;
}

export type HashAnswer =
  | { id: number; counted: Counted }
  | { id: number; message: string; hint: string | undefined; refused: boolean };

interface Waiting {
  resolve(counted: Counted): void;
  reject(error: Error): void;
}

/** Where the build puts the thread's program, seen from the build's chunks; from sources there is none. */
const PROGRAM = fileURLToPath(new URL('../documents/hash-worker.js', import.meta.url));

/**
 * A thread that proves files beside the one that fetches them: of many small files, hashing is what takes longest.
 */
export class HashThread {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;

  private constructor() {
    this.worker = new Worker(PROGRAM, { resourceLimits: { maxOldGenerationSizeMb: 32 } });
    this.worker.unref();
    this.worker.on('message', (answer: HashAnswer) => this.take(answer));
    this.worker.on('error', (error) => this.fail(error));
  }

  /** Undefined where there is no program for it; files are then proven where they are fetched. */
  static start(): HashThread | undefined {
    return existsSync(PROGRAM) ? new HashThread() : undefined;
  }

  /** @throws StorageError STORAGE_CORRUPT when the file is not the object. */
  prove(path: string, key: string, facts: ObjectFacts): Promise<Counted> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.ref();
      const task: HashTask = { id, path, key, facts };
      this.worker.postMessage(task);
    });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private take(answer: HashAnswer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (this.waiting.size === 0) this.worker.unref();
    if ('counted' in answer) waiting?.resolve(answer.counted);
    else if (answer.refused)
      waiting?.reject(new StorageError('STORAGE_CORRUPT', answer.message, { hint: answer.hint }));
    else waiting?.reject(new Error(answer.message));
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
