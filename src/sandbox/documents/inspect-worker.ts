import { parentPort, workerData } from 'node:worker_threads';
import { inspectPdf } from './inspect.ts';

/* The program of the thread. Inspects the file that is passed as worker data. */
if (workerData instanceof Uint8Array) parentPort?.postMessage(await inspectPdf(workerData));
