import { parentPort, workerData } from 'node:worker_threads';
import { inspectPdf } from './inspect.ts';

/* The thread's own program: inspects the one file it was started with. */
if (workerData instanceof Uint8Array) parentPort?.postMessage(await inspectPdf(workerData));
