import { basename, dirname } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { type Bucket, openBucket } from '../documents/bucket.ts';
import { type FileResult, streamObject } from '../documents/download.ts';
import { type FileWish, fetchFile, locatePaper, type Patience, untilThere } from '../documents/fetch.ts';
import { addToManifest } from '../documents/manifest.ts';
import { counted } from '../kernel/duration.ts';
import { type EsignError, PartialError, StorageError, UsageError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { startDownloadProgress } from '../output/download-progress.ts';
import { renderFile } from '../output/file-view.ts';
import { writeJsonLine } from '../output/json.ts';
import { safeLine } from '../output/text.ts';
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
  await untilThere(() => streamObject(bucket, wanted, write, around.signal), patienceOf(flags, around));
}

async function toFiles(
  bucket: Bucket,
  wishes: readonly FileWish[],
  flags: DownloadFlagValues,
  around: Surroundings,
): Promise<void> {
  const { output } = flags;
  const dir = output === undefined ? flags.dir : dirname(output);
  const progress = await startDownloadProgress(wishes.length, around.terminal, around.json);
  const options = {
    dir,
    fileName: output === undefined ? undefined : basename(output),
    force: flags.force,
    clock: around.clock,
    signal: around.signal,
    onBytes: (bytes: number) => progress.add(bytes),
  };
  const patience = patienceOf(flags, around);
  const errors: EsignError[] = [];
  const saved: { path: string; sha256: string }[] = [];
  try {
    for await (const { result, error } of mapInOrder(wishes, flags.concurrency, (wish) =>
      fetchFile(bucket, wish, options, patience),
    )) {
      if (error) errors.push(error);
      if (result.path !== null && result.sha256 !== null)
        saved.push({ path: result.path, sha256: result.sha256 });
      await progress.aside(() => writeResult(result, error, wishes.length, around));
    }
  } finally {
    progress.stop();
    // What was saved is in the manifest even when the run was interrupted; a single -o file has none.
    if (output === undefined) await addToManifest(dir, saved);
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

/**
 * Writes what a check of downloaded files found, a line each.
 * @throws StorageError when a file is not what was downloaded.
 */
export async function writeVerified(results: AsyncIterable<FileResult>, around: Surroundings): Promise<void> {
  const { terminal, json } = around;
  let [files, wrong] = [0, 0];
  for await (const result of results) {
    files++;
    if (result.error !== null) wrong++;
    if (json) await writeJsonLine(result, terminal);
    else if (result.error === null) await terminal.out(renderFile(result, terminal));
    else terminal.err(`${terminal.styleErr('red', '✗')} ${safeLine(result.error.message)}\n`);
  }
  if (wrong > 0)
    throw new StorageError(
      'STORAGE_CORRUPT',
      `${wrong} of ${counted(files, 'file')} failed the check; each is reported above.`,
      {
        hint: 'Fetch them again: `esign envelopes download ID --dir DIR --force`.',
      },
    );
  if (!json) around.notice(`${counted(files, 'file')} checked; all are as downloaded.`);
}

/** Fetches the signed PDF and the certificate of a completed envelope into a folder. */
export async function downloadPapers(envelopeId: string, dir: string, around: Surroundings): Promise<void> {
  const flags = { dir, force: false, concurrency: 2 };
  const client = await around.client();
  const patience = patienceOf(flags, around);
  const wishes = (['signed', 'certificate'] as const).map((what) => ({
    envelopeId,
    what,
    key: null,
    locate: () => locatePaper(client, envelopeId, what, patience),
  }));
  await downloadAll(wishes, flags, around);
}
