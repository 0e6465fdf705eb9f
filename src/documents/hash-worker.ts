import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { EsignError, messageOf } from '../kernel/errors.ts';
import { Digest } from './digest.ts';
import type { HashAnswer, HashTask } from './hash-thread.ts';

/* The thread's own program: reads files from the disk and proves them, one after the other. */
const block = Buffer.allocUnsafe(256 * 1024);

parentPort?.on('message', (task: HashTask) => {
  parentPort?.postMessage(answerTo(task));
});

function answerTo({ id, path, key, facts }: HashTask): HashAnswer {
  try {
    const digest = new Digest(key, facts);
    const file = openSync(path, 'r');
    try {
      for (;;) {
        const read = readSync(file, block, 0, block.byteLength, null);
        if (read === 0) return { id, counted: digest.result() };
        digest.update(block.subarray(0, read));
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const refused = error instanceof EsignError;
    return { id, message: messageOf(error), hint: refused ? error.hint : undefined, refused };
  }
}
