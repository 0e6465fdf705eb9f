import type { Bucket } from '../../documents/bucket/bucket.ts';
import { type FileTarget, fetchFile, type Waiting } from '../../documents/download/fetch.ts';
import type { DownloadOptions, FileResult } from '../../documents/download/file.ts';
import type { JudgedSeal, SealProblem } from '../../documents/seal/judge.ts';
import type { EsignError } from '../../kernel/errors.ts';
import { mapAhead } from '../../kernel/streams.ts';
import type { Context } from '../context.ts';
import type { pinningJudge } from './seals.ts';

/** A file that was fetched, or why not, and what its seal is worth. */
export interface JudgedFile {
  result: FileResult;
  seal: JudgedSeal | null;
  problem: SealProblem | null;
  error: EsignError | undefined;
}

export interface FetchOptions extends DownloadOptions {
  waiting: Waiting;
  /** How many at once. */
  concurrency: number;
}

/** Fetches files and judges their seals, in the order of the targets: the first seal may be pinned. */
export async function* fetchJudged(
  bucket: Bucket,
  targets: readonly FileTarget[],
  options: FetchOptions,
  context: Context,
): AsyncGenerator<JudgedFile, void, undefined> {
  const { waiting, concurrency } = options;
  // What judges seals is loaded for the first one.
  let judge: ReturnType<typeof pinningJudge> | undefined;
  const work = (target: FileTarget) => fetchFile(bucket, target, options, waiting);
  for await (const { result, seal: checked, error } of mapAhead(targets, concurrency, work)) {
    if (checked === null) {
      yield { result, seal: null, problem: null, error };
      continue;
    }
    judge ??= import('./seals.ts').then((seals) => seals.pinningJudge(context));
    yield { result, ...(await (await judge)(checked)), error };
  }
}
