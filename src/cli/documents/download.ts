import { setMaxListeners } from 'node:events';
import { basename, dirname } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { refuseCollisions } from '../../documents/archive/file-names.ts';
import { Folders } from '../../documents/archive/folders.ts';
import { Ledger } from '../../documents/archive/ledger.ts';
import { type NameTemplate, parseNameTemplate } from '../../documents/archive/name-template.ts';
import { type FileTarget, sourceOf, untilThere, type Waiting } from '../../documents/download/fetch.ts';
import type { DownloadOptions } from '../../documents/download/file.ts';
import { targetsOfIds } from '../../documents/download/targets.ts';
import { streamObject } from '../../documents/download/to-stream.ts';
import { UsageError } from '../../kernel/errors.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { type Progress, startProgress } from '../../output/progress.ts';
import { Batch } from '../batch.ts';
import type { Context } from '../context.ts';
import { durationFlag } from '../flags.ts';
import { fetchJudged, type JudgedFile } from './fetched.ts';
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
    default: 32,
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
const MANY = 2_000;

/** How long this run waits for files, all together and from now on, and what it says meanwhile. */
export function waitingOf(flags: { wait?: number | undefined }, context: Context): Waiting {
  let said = false;
  return {
    until: context.clock.now() + (flags.wait ?? DEFAULT_WAIT_MS),
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
 * Fetches all files that are asked for from the profile's bucket, a line or JSON line each as it is done.
 * @throws the file's own error when all failed, PartialError when some did.
 */
export async function downloadAll(
  targets: readonly FileTarget[],
  flags: DownloadFlagValues,
  context: Context,
): Promise<void> {
  if (flags.output !== undefined && targets.length > 1) {
    throw new UsageError(`--output names one file, but ${targets.length} are to be fetched.`, {
      hint: 'Use --dir, or --what with one kind.',
    });
  }
  const [only] = targets;
  if (flags.output === '-' && only) return toStdout(only, flags, context);
  const progress = startOf(targets.length);
  const watch = {
    expect: (bytes: number) => {
      progress.expected += bytes;
      progress.begun += Math.sign(bytes);
    },
    arrive: (bytes: number) => {
      progress.bytes += bytes;
    },
  };
  const line = await startProgress(progress, context.terminal, context.json);
  const batch = new Batch(context, { aside: (write) => line.aside(write), ownError: true });
  try {
    for await (const { result, seal, problem, error } of fetchInto(targets, flags, context, watch)) {
      progress.done++;
      if (error !== undefined) progress.failed++;
      if (error !== undefined) {
        await batch.report({ json: result, failure: { error } });
        continue;
      }
      const text = renderFile(result, context.terminal, seal);
      await batch.report({ json: seal === null ? result : { ...result, seal }, text });
      if (problem !== null && !context.json)
        await line.aside(() => context.notice(`${result.path}: ${problem.message}`));
    }
  } finally {
    line.stop();
  }
  batch.end(targets.length, 'file');
}

async function toStdout(target: FileTarget, flags: DownloadFlagValues, context: Context): Promise<void> {
  const bucket = await context.bucket();
  try {
    const wanted = await target.locate();
    const write = (chunk: Uint8Array) => context.terminal.out(chunk);
    const { signal, clock } = context;
    await untilThere(() => streamObject(bucket, wanted, write, { signal, clock }), waitingOf(flags, context));
  } finally {
    bucket.close();
  }
}

/** Fetches the files into their folder and lists their hashes there; what became of each, in the order given. */
export async function* fetchInto(
  targets: readonly FileTarget[],
  flags: DownloadFlagValues,
  context: Context,
  watch?: DownloadOptions['watch'],
): AsyncGenerator<JudgedFile, void, undefined> {
  refuseCollisions(
    targets.flatMap((target) =>
      target.fileName === null ? [] : [{ fileName: target.fileName, source: sourceOf(target) }],
    ),
  );
  // What is gone on with for minutes has to stay small; in a shorter run it would cost more time than it saves memory.
  if (targets.length > MANY) preferLowMemory();
  // Each file under way listens for the stop.
  setMaxListeners(0, context.signal);
  const { output, force, concurrency } = flags;
  const { signal, clock } = context;
  const dir = output === undefined ? flags.dir : dirname(output);
  const named =
    output === undefined ? targets : targets.map((one) => ({ ...one, fileName: basename(output) }));
  const bucket = await context.bucket();
  const folders = new Folders(dir);
  try {
    const ledger = output === undefined ? await Ledger.open(dir, folders) : undefined;
    const waiting = waitingOf(flags, context);
    const options = { dir, force, signal, clock, folders, ledger, watch, waiting, concurrency };
    try {
      yield* fetchJudged(bucket, named, options, context);
    } finally {
      await ledger?.flush();
    }
  } finally {
    bucket.close();
    await folders.close();
  }
}

function startOf(files: number): Progress {
  return { files, done: 0, failed: 0, begun: 0, expected: 0, bytes: 0, startedAt: Date.now() };
}

/** Fetches the signed PDF and the certificate of a completed envelope into a folder. */
export async function downloadPapers(envelopeId: string, dir: string, context: Context): Promise<void> {
  const flags: DownloadFlagValues = { dir, force: false, concurrency: 2 };
  const options = {
    client: await context.client(),
    papers: ['signed', 'certificate'] as const,
    template: undefined,
    waiting: waitingOf(flags, context),
  };
  await downloadAll(await targetsOfIds([envelopeId], options), flags, context);
}
