import { basename, dirname } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { type Bucket, openBucket } from '../documents/bucket.ts';
import { type FileResult, streamObject } from '../documents/download.ts';
import { type FileWish, fetchFile, type Patience, untilThere } from '../documents/fetch.ts';
import { type EsignError, PartialError, UsageError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { renderFile } from '../output/file-view.ts';
import { writeJsonLine } from '../output/json.ts';
import { startSpinner } from '../output/spinner.ts';
import { durationFlag } from './flags.ts';
import { errorText } from './report.ts';
import type { Surroundings } from './surroundings.ts';

/** What both download commands take. */
export const downloadFlags = {
  dir: Flags.string({
    description: 'folder for the files',
    default: '.',
    helpValue: 'DIR',
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
    default: 4,
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
  output?: string | undefined;
  force: boolean;
  concurrency: number;
  wait?: number | undefined;
}

const DEFAULT_WAIT_MS = 30_000;

/** How long this run waits for files, and what it says meanwhile. */
export function patienceOf(flags: DownloadFlagValues, around: Surroundings): Patience {
  let said = false;
  return {
    waitMs: flags.wait ?? DEFAULT_WAIT_MS,
    clock: around.clock,
    signal: around.signal,
    onWait: (reason) => {
      if (!said) around.notice(reason);
      said = true;
    },
  };
}

/**
 * Fetches all wished files from the profile's bucket, a line or JSON line each.
 * @throws the file's own error when all failed, PartialError when some did.
 */
export async function downloadAll(
  wishes: readonly FileWish[],
  flags: DownloadFlagValues,
  around: Surroundings,
): Promise<void> {
  if (flags.output !== undefined && wishes.length > 1) {
    throw new UsageError(`--output names one file, but ${wishes.length} are to be fetched.`, {
      hint: 'Use --dir, or --what with one kind.',
    });
  }
  const bucket = await openBucket((await around.settings()).storage);
  try {
    const [only] = wishes;
    if (flags.output === '-' && only) return await toStdout(bucket, only, flags, around);
    await toFiles(bucket, wishes, flags, around);
  } finally {
    bucket.close();
  }
}

async function toStdout(
  bucket: Bucket,
  wish: FileWish,
  flags: DownloadFlagValues,
  around: Surroundings,
): Promise<void> {
  const wanted = await wish.locate();
  const write = (chunk: Uint8Array) => around.terminal.out(chunk);
  await untilThere(
    () => streamObject(bucket, wanted, write, { signal: around.signal }),
    patienceOf(flags, around),
  );
}

async function toFiles(
  bucket: Bucket,
  wishes: readonly FileWish[],
  flags: DownloadFlagValues,
  around: Surroundings,
): Promise<void> {
  const { output } = flags;
  const options = {
    dir: output === undefined ? flags.dir : dirname(output),
    fileName: output === undefined ? undefined : basename(output),
    force: flags.force,
    signal: around.signal,
  };
  const patience = patienceOf(flags, around);
  const spinner = await startSpinner('Fetching', around.terminal, around.json);
  const errors: EsignError[] = [];
  try {
    for await (const { result, error } of mapInOrder(wishes, flags.concurrency, (wish) =>
      fetchFile(bucket, wish, options, patience),
    )) {
      if (error) errors.push(error);
      await spinner.aside(() => writeResult(result, error, wishes.length, around));
    }
  } finally {
    spinner.stop();
  }
  const [first] = errors;
  if (first === undefined) return;
  throw errors.length === wishes.length
    ? first
    : new PartialError(`${errors.length} of ${wishes.length} files failed; each is reported above.`);
}

async function writeResult(
  result: FileResult,
  error: EsignError | undefined,
  of: number,
  around: Surroundings,
): Promise<void> {
  const { terminal, json, redactor } = around;
  if (json) return writeJsonLine(result, terminal);
  if (error === undefined) return terminal.out(renderFile(result, terminal));
  // A single failure is said once, by the reporter.
  if (of > 1) terminal.err(errorText(error, { json: false, redactor, style: terminal.styleErr }));
}
