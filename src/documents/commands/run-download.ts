import { setMaxListeners } from 'node:events';
import { basename, dirname } from 'node:path';
import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import { Batch, type ItemResult } from '../../cli/batch.ts';
import { booleanFlag, durationFlag, textFlag } from '../../cli/flags.ts';
import type { Context } from '../../cli/session/context.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { TimeLimit } from '../../kernel/clock.ts';
import { counted, durationText } from '../../kernel/duration.ts';
import { StorageError, UsageError } from '../../kernel/errors.ts';
import { checkFolderOf } from '../../kernel/files/new-file.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { startProgress } from '../../output/progress.ts';
import { DownloadFolder } from '../archive/download-folder.ts';
import type { NameTemplate } from '../archive/file-name-template.ts';
import { type FetchOptions, fetchFiles, fetchToStream } from '../download/fetch.ts';
import type { FileTarget, LocateOptions } from '../download/locate.ts';
import type { CheckedFile } from '../download/seals.ts';
import { targetsOfId } from '../download/targets.ts';
import { CONCURRENT_DOWNLOADS, DEFAULT_WAIT_MS } from '../download-limits.ts';
import { renderFile } from './download-lines.ts';
import { ListedFiles } from './listed-files.ts';
import { openBucketOf } from './open-bucket.ts';
import { sealSourceOf } from './seal-pins.ts';

/** The flags shared by the two download commands. */
export const downloadFlags = {
  dir: Flags.string({
    description: 'folder for the files and their SHA256SUMS',
    default: '.',
    helpValue: 'DIR',
    exclusive: ['output'],
  }),
  'name-template': textFlag(
    'TEXT',
    "path for each file in the folder, such as '{completedAt:yyyy-MM}/{envelopeId}.{what}.pdf'",
    { exclusive: ['output'] },
  ),
  output: textFlag('FILE', 'output file for a single download; `-` for stdout', { char: 'o' }),
  force: booleanFlag('replace existing files whose content differs'),
  wait: durationFlag(
    '30s',
    `how long to wait for a file that is not in the bucket yet (default ${durationText(DEFAULT_WAIT_MS)})`,
  ),
};

type AllDownloadFlags = InferredFlags<typeof downloadFlags>;
/** The values of the flags. A listener sets only these two. */
export type DownloadFlagValues = Pick<AllDownloadFlags, 'dir' | 'force'> & Partial<AllDownloadFlags>;

/** The number of files from which lower memory use is more important than speed. */
const LARGE_RUN_FILES = 2_000;

/** Starts the time limit for waiting for files. Prints a notice the first time the run has to wait. */
export async function startWaitLimit(
  targets: readonly FileTarget[],
  flags: { wait?: number | undefined },
  { session, terminal, interrupt: { signal } }: Context,
): Promise<LocateOptions> {
  // Each running download adds a listener to the signal.
  setMaxListeners(0, signal);
  let isShown = false;
  return {
    client: targets.some(({ key }) => key === null) ? await session.client() : undefined,
    limit: new TimeLimit(session.clock, flags.wait ?? DEFAULT_WAIT_MS),
    untilSigned: flags.wait !== undefined,
    clock: session.clock,
    signal,
    onWait: (reason) => {
      if (!isShown && !terminal.json) terminal.notice(reason);
      isShown = true;
    },
  };
}

interface DownloadAllOptions {
  /** The layout of --name-template. */
  naming?: NameTemplate | undefined;
  /** The `type` of the JSON lines, in commands that also print other lines. */
  tag?: { type?: 'file' };
}

/**
 * Downloads the files from the profile's bucket and prints a line or JSON line for each.
 * @throws the file's own error if all failed, PartialError if some did, StorageError if a seal has a problem.
 */
export async function downloadAll(
  targets: readonly FileTarget[],
  flags: DownloadFlagValues,
  context: Context,
  { naming, tag = {} }: DownloadAllOptions = {},
): Promise<void> {
  refuseOutput(targets, flags, context.terminal);
  const [only] = targets;
  if (flags.output === '-' && only) return toStdout(only, flags, context);
  const progress = {
    files: targets.length,
    done: 0,
    failed: 0,
    bytes: 0,
    startedAt: Date.now(),
  };
  const line = await startProgress(progress, context.terminal, context.terminal.json);
  const batch = new Batch(context, { aside: (write) => line.aside(write), ownError: true });
  const seen = { problems: 0, seal: 0, size: 0 };
  const { terminal } = context;
  const listed = new ListedFiles(terminal, targets.length);
  const counts = { downloaded: 0, unchanged: 0, failed: 0 };
  try {
    for await (const file of downloadIntoFolder(targets, flags, context, { naming, progress })) {
      const { result, problem, error } = file;
      progress.done++;
      if (error !== undefined) progress.failed++;
      if (problem !== null) seen.problems++;
      if (result.proof === 'seal' || result.proof === 'size') seen[result.proof]++;
      counts[result.status]++;
      await batch.report(itemOf(file, terminal, tag, listed));
      const notice = sealNotice(file);
      if (notice !== undefined && !context.terminal.json)
        await line.aside(() => context.terminal.notice(`${result.path}: ${notice}`));
    }
  } finally {
    line.stop();
    reportMissingChecksums(seen, context.terminal);
  }
  reportSaved(counts, listed, flags.dir, terminal);
  batch.end(targets.length, 'file');
  if (seen.problems > 0) throw invalidSealsError(seen.problems, targets.length);
}

/** Prints how many files were saved, and who sealed them, instead of listing them. */
function reportSaved(
  { downloaded, unchanged }: { downloaded: number; unchanged: number },
  listed: ListedFiles,
  dir: string,
  terminal: CommandTerminal,
): void {
  const parts = [
    ...(downloaded > 0
      ? [`Saved ${counted(downloaded, 'file')} in ${dir === '.' ? 'this folder' : dir}`]
      : []),
    ...(unchanged > 0 ? [`${counted(unchanged, 'file')} unchanged`] : []),
  ];
  if (parts.length > 0 && !listed.isComplete())
    terminal.notice(`${parts.join(', ')}. ${listed.sealersInWords()}`);
}

/** @throws UsageError if --output isn't the name of a single file, or if stdout is a terminal, on which a file could act. */
function refuseOutput(
  targets: readonly FileTarget[],
  { output }: DownloadFlagValues,
  { outIsTty }: CommandTerminal,
): void {
  if (output !== undefined && targets.length > 1) {
    throw new UsageError(`--output names one file, but there are ${targets.length} to download.`, {
      hint: 'Use --dir, or a single kind with --what.',
    });
  }
  if (output === '-' && outIsTty) {
    throw new UsageError('Documents are not printed on a terminal.', {
      hint: 'Redirect stdout to a file or a pipe, or use --output FILE.',
    });
  }
  if (output?.endsWith('/')) {
    throw new UsageError(`--output ${output} is a folder, not a file.`, {
      hint: `Use --dir ${output} instead.`,
    });
  }
  if (output !== undefined && output !== '-') checkFolderOf(output);
}

function itemOf(
  { result, seal, problem, error }: CheckedFile,
  terminal: CommandTerminal,
  tag: { type?: 'file' },
  listed: ListedFiles,
): ItemResult {
  const json = { ...tag, ...result, seal, problem };
  if (error !== undefined) return { json, failure: { error } };
  const text = renderFile(result, terminal, seal);
  return { json, text: problem === null ? listed.take(text, seal) : text };
}

/** Returns the problem with a seal, or what an accepted one doesn't cover, and where the sealed part is. */
export function sealNotice({ seal, sealedPart, problem }: CheckedFile): string | undefined {
  if (problem !== null) return problem.message;
  return sealedPart === null ? undefined : `${seal?.reason ?? ''} The sealed part is ${sealedPart.path}.`;
}

/** Prints a notice about files for which the bucket has no hash that can be compared. */
export function reportMissingChecksums(
  { seal, size }: { seal: number; size: number },
  terminal: CommandTerminal,
): void {
  const notice = (how: string, count: number) =>
    terminal.notice(`Verified by ${how}: ${counted(count, 'file')}. The bucket has no checksum to compare.`);
  if (seal > 0) notice('seal', seal);
  if (size > 0) notice('size only', size);
}

/** Returns the error for files with invalid seals. The files are kept, because the bucket contains the same ones. */
function invalidSealsError(problems: number, files: number): StorageError {
  return new StorageError(
    'STORAGE_CORRUPT',
    `${problems} of ${counted(files, 'file')} failed the seal check, as shown above. The files were kept.`,
    { hint: "Don't rely on them; contact the service. `esign profiles show` shows the pinned certificate." },
  );
}

async function toStdout(target: FileTarget, flags: DownloadFlagValues, context: Context): Promise<void> {
  const bucket = await openBucketOf(context.session);
  try {
    const write = (chunk: Uint8Array) => context.terminal.out(chunk);
    const { proof } = await fetchToStream(
      bucket,
      target,
      write,
      await startWaitLimit([target], flags, context),
    );
    reportMissingChecksums({ seal: 0, size: proof === undefined ? 1 : 0 }, context.terminal);
    if (!context.terminal.json)
      context.terminal.notice('The seal was not checked; `esign documents verify FILE` checks a saved file.');
  } finally {
    bucket.close();
  }
}

/** Downloads the files to their folder and writes a list of their hashes there. Yields the results in the order of the targets. */
export async function* downloadIntoFolder(
  targets: readonly FileTarget[],
  flags: DownloadFlagValues,
  context: Context,
  { naming, progress }: Pick<FetchOptions, 'progress'> & DownloadAllOptions = {},
): AsyncGenerator<CheckedFile, void, undefined> {
  if (targets.length === 0) return;
  if (targets.length > LARGE_RUN_FILES) preferLowMemory();
  const { output, force } = flags;
  const { signal } = context.interrupt;
  const dir = output === undefined ? flags.dir : dirname(output);
  const sealSource = await sealSourceOf(context.session);
  const bucket = await openBucketOf(context.session);
  let folder: DownloadFolder | undefined;
  try {
    folder = await DownloadFolder.open(dir, {
      hasList: output === undefined,
      signal,
      onBusy: busyNotice(dir, context.terminal),
    });
    const waiting = await startWaitLimit(targets, flags, context);
    yield* fetchFiles(bucket, targets, {
      ...waiting,
      naming: output === undefined ? naming : basename(output),
      folder,
      force,
      progress,
      concurrency: CONCURRENT_DOWNLOADS,
      sealSource,
      savesSealedParts: sealSource.sealedPart,
    });
  } finally {
    bucket.close();
    await folder?.close();
  }
}

/** Returns a function that says for which process a run waits. */
export function busyNotice(dir: string, terminal: CommandTerminal): (owner: string) => void {
  return (owner) =>
    terminal.notice(
      `Waiting for another esign process (${owner}) to finish downloading into ${dir === '.' ? 'this folder' : dir}…`,
    );
}

/** The documents that a listener downloads. */
const LISTENER_DOCUMENTS = ['signed', 'certificate'] as const;

/** Downloads the signed PDF and the certificate of a completed envelope to a folder, for a listener. */
export async function downloadDocuments(envelopeId: string, dir: string, context: Context): Promise<void> {
  const { envelopes } = await context.session.client();
  const read = (id: string) => envelopes.get(id, context.interrupt.signal);
  const targets = targetsOfId(envelopeId, LISTENER_DOCUMENTS, read);
  await downloadAll(targets, { dir, force: false }, context, { tag: { type: 'file' } });
}
