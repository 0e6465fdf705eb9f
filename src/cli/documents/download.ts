import { setMaxListeners } from 'node:events';
import { basename, dirname } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { refuseCollisions } from '../../documents/archive/file-names.ts';
import { Folders } from '../../documents/archive/folders.ts';
import { Ledger } from '../../documents/archive/ledger.ts';
import { type NameTemplate, parseNameTemplate } from '../../documents/archive/name-template.ts';
import type { Bucket } from '../../documents/bucket/bucket.ts';
import {
  type FileWish,
  fetchFile,
  type Patience,
  sourceOf,
  untilThere,
} from '../../documents/download/fetch.ts';
import type { DownloadOptions, FileResult } from '../../documents/download/file.ts';
import { wishesOfIds } from '../../documents/download/targets.ts';
import { streamObject } from '../../documents/download/to-stream.ts';
import { FileThread } from '../../documents/file-thread.ts';
import { counted } from '../../kernel/duration.ts';
import { type EsignError, PartialError, UsageError } from '../../kernel/errors.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { preferLowMemory } from '../../kernel/v8-flags.ts';
import { writeJsonLine } from '../../output/json.ts';
import { type Progress, startProgress } from '../../output/progress.ts';
import type { Context } from '../context.ts';
import { durationFlag } from '../flags.ts';
import { errorText } from '../report.ts';
import { renderFile } from './view.ts';

/** What both download commands take. */
export const downloadFlags = {
  dir: Flags.string({
    description: 'folder for the files and their SHA256SUMS',
    default: '.',
    helpValue: 'DIR',
    exclusive: ['output'],
  }),
  'name-template': Flags.string({
    description: "path of each file in the folder, such as '{completedAt:yyyy-MM}/{envelopeId}.{what}.pdf'",
    helpValue: 'TEXT',
    exclusive: ['output'],
  }),
  output: Flags.string({
    char: 'o',
    description: 'file for a single download; - for stdout',
    helpValue: 'FILE',
  }),
  force: Flags.boolean({ description: 'replace files that are different' }),
  concurrency: Flags.integer({
    description: 'how many files at once',
    default: 16,
    min: 1,
    max: 64,
    helpValue: 'N',
  }),
  wait: durationFlag({
    description: 'how long to wait for a file that is not there yet (default 30s)',
    helpValue: '30s',
  }),
};

export interface DownloadFlagValues {
  dir: string;
  'name-template'?: string | undefined;
  output?: string | undefined;
  force: boolean;
  concurrency: number;
  wait?: number | undefined;
}

const DEFAULT_WAIT_MS = 30_000;
/** Files from which on a second thread pays for its start. */
const WORTH_A_THREAD = 50;

/** How long this run waits for files, and what it says meanwhile. */
export function patienceOf(flags: { wait?: number | undefined }, context: Context): Patience {
  let said = false;
  return {
    waitMs: flags.wait ?? DEFAULT_WAIT_MS,
    clock: context.clock,
    signal: context.signal,
    onWait: (reason) => {
      if (!said && !context.json) context.notice(reason);
      said = true;
    },
  };
}

/** The layout that was asked for. */
export function templateOf(flags: DownloadFlagValues, of: 'envelope' | 'key'): NameTemplate | undefined {
  const text = flags['name-template'];
  return text === undefined ? undefined : parseNameTemplate(text, of);
}

/**
 * Fetches all wished files from the profile's bucket, a line or JSON line each as it is done.
 * @throws the file's own error when all failed, PartialError when some did.
 */
export async function downloadAll(
  wishes: readonly FileWish[],
  flags: DownloadFlagValues,
  context: Context,
): Promise<void> {
  if (flags.output !== undefined && wishes.length > 1) {
    throw new UsageError(`--output names one file, but ${wishes.length} are to be fetched.`, {
      hint: 'Use --dir, or --what with one kind.',
    });
  }
  refuseCollisions(
    wishes.flatMap((wish) =>
      wish.fileName === null ? [] : [{ fileName: wish.fileName, source: sourceOf(wish) }],
    ),
  );
  if (wishes.length > 1) preferLowMemory();
  // Each file under way listens for the stop.
  setMaxListeners(0, context.signal);
  // The thread starts beside the bucket's connection.
  const thread = wishes.length >= WORTH_A_THREAD ? FileThread.start() : undefined;
  let bucket: Bucket | undefined;
  try {
    bucket = await context.bucket();
    const [only] = wishes;
    if (flags.output === '-' && only) return await toStdout(bucket, only, flags, context);
    await toFiles(bucket, wishes, thread, flags, context);
  } finally {
    bucket?.close();
    await thread?.close();
  }
}

async function toStdout(
  bucket: Bucket,
  wish: FileWish,
  flags: DownloadFlagValues,
  context: Context,
): Promise<void> {
  const wanted = await wish.locate();
  const write = (chunk: Uint8Array) => context.terminal.out(chunk);
  const { signal, clock } = context;
  await untilThere(() => streamObject(bucket, wanted, write, { signal, clock }), patienceOf(flags, context));
}

async function toFiles(
  bucket: Bucket,
  wishes: readonly FileWish[],
  thread: FileThread | undefined,
  flags: DownloadFlagValues,
  context: Context,
): Promise<void> {
  const { output } = flags;
  const dir = output === undefined ? flags.dir : dirname(output);
  const folders = new Folders(dir, thread);
  const { signal, clock } = context;
  const common = { thread, dir, force: flags.force, signal, clock, folders };
  if (output !== undefined) {
    const named = wishes.map((wish) => ({ ...wish, fileName: basename(output) }));
    return fetchAll(bucket, named, common, flags, context).finally(() => folders.close());
  }
  const ledger = await Ledger.open(dir, folders);
  try {
    await fetchAll(bucket, wishes, { ...common, ledger }, flags, context);
  } finally {
    await ledger.flush();
    await folders.close();
  }
}

async function fetchAll(
  bucket: Bucket,
  wishes: readonly FileWish[],
  options: DownloadOptions,
  flags: DownloadFlagValues,
  context: Context,
): Promise<void> {
  const progress = startOf(wishes.length);
  const watch = {
    expect: (bytes: number) => {
      progress.expected += bytes;
      progress.begun += Math.sign(bytes);
    },
    arrive: (bytes: number) => {
      progress.bytes += bytes;
    },
  };
  const patience = patienceOf(flags, context);
  const line = await startProgress(progress, context.terminal, context.json);
  let first: EsignError | undefined;
  try {
    const work = (wish: FileWish, arrived: () => void) =>
      fetchFile(bucket, wish, { ...options, watch, arrived }, patience);
    for await (const { result, error } of mapAhead(wishes, flags.concurrency, work)) {
      first ??= error;
      progress.done++;
      if (error !== undefined) progress.failed++;
      await line.aside(() => writeResult(result, error, wishes.length, context));
    }
  } finally {
    line.stop();
  }
  if (first === undefined) return;
  throw progress.failed === wishes.length
    ? first
    : new PartialError(
        `${progress.failed} of ${counted(wishes.length, 'file')} failed; each is reported above.`,
      );
}

function startOf(files: number): Progress {
  return { files, done: 0, failed: 0, begun: 0, expected: 0, bytes: 0, startedAt: Date.now() };
}

async function writeResult(
  result: FileResult,
  error: EsignError | undefined,
  of: number,
  context: Context,
): Promise<void> {
  const { terminal, json, redactor } = context;
  if (json) return writeJsonLine(result, terminal);
  if (error === undefined) return terminal.out(renderFile(result, terminal));
  // A single failure is said once, by the reporter.
  if (of > 1) terminal.err(errorText(error, { json: false, redactor, style: terminal.styleErr }));
}

/** Fetches the signed PDF and the certificate of a completed envelope into a folder. */
export async function downloadPapers(envelopeId: string, dir: string, context: Context): Promise<void> {
  const flags: DownloadFlagValues = { dir, force: false, concurrency: 2 };
  const wish = {
    client: await context.client(),
    papers: ['signed', 'certificate'] as const,
    template: undefined,
    patience: patienceOf(flags, context),
  };
  await downloadAll(await wishesOfIds([envelopeId], wish), flags, context);
}
