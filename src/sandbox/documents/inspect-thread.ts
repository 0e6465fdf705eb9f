import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Inspection } from '../model.ts';
import { inspectPdf } from './inspect.ts';

/** The thread's program, which exists only in a build, not in the sources. */
const PROGRAM = join(import.meta.dirname, 'inspect-worker.js');
const TIMEOUT_MS = 10_000;
const MEMORY_MB = 512;

/**
 * Inspects a file in a separate thread. On some damaged files, the PDF library loops forever or uses all memory, which must not affect the
 * sandbox.
 */
export function inspectInWorker(bytes: Uint8Array): Promise<Inspection> {
  if (!existsSync(PROGRAM)) return inspectPdf(bytes);
  const worker = new Worker(PROGRAM, {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  return new Promise((resolve) => {
    const end = (inspection: Inspection) => {
      clearTimeout(timeout);
      resolve(inspection);
      void worker.terminate();
    };
    const problem = 'The PDF cannot be read: it is damaged or too complex.';
    const timeout = setTimeout(() => end({ problem }), TIMEOUT_MS);
    worker.once('message', (inspection: Inspection) => end(inspection));
    worker.once('error', () => end({ problem }));
  });
}
