import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { codeOf, EsignError, messageOf } from '../kernel/errors.ts';
import { type Counted, Digest } from './download/digest.ts';
import type { FileAnswer, FileTask } from './file-thread.ts';
import { Shelf, type Shelved, syncFolders } from './shelf.ts';

/* The thread's own program. What is done at the same moment is answered together: each message wakes the other side. */
const block = Buffer.allocUnsafe(256 * 1024);
const shelf = new Shelf();
let answers: FileAnswer[] = [];

parentPort?.on('message', (tasks: FileTask[]) => {
  for (const task of tasks) {
    perform(task).then(
      (result) => answer({ id: task.id, result }),
      (error: unknown) => answer(failureOf(task.id, error)),
    );
  }
});

async function perform(task: FileTask): Promise<Shelved | undefined> {
  if (task.kind === 'put') return shelf.put(task);
  if (task.kind === 'prove') return prove(task);
  await syncFolders(task.folders);
  return undefined;
}

function prove({ path, key, facts }: Extract<FileTask, { kind: 'prove' }>): Counted {
  const digest = new Digest(key, facts);
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const read = readSync(file, block, 0, block.byteLength, null);
      if (read === 0) return digest.result();
      digest.update(block.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}

function answer(one: FileAnswer): void {
  answers.push(one);
  if (answers.length > 1) return;
  setImmediate(() => {
    parentPort?.postMessage(answers);
    answers = [];
  });
}

function failureOf(id: number, error: unknown): FileAnswer {
  const refused = error instanceof EsignError;
  const hint = refused ? error.hint : undefined;
  return { id, message: messageOf(error), code: codeOf(error), hint, refused };
}
