import { EsignError, messageOf } from '../../kernel/errors.ts';
import { mapAhead } from '../../kernel/streams.ts';
import type { Bucket } from '../bucket/bucket.ts';
import type { JudgedSeal } from '../seal/judge.ts';
import type { SealCheck, SealedFile, SealSource } from '../seal/seal-check.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './file.ts';
import { type FileTarget, type LocateOptions, locate, waitUntilAvailable } from './targets.ts';

export interface FetchOptions extends DownloadOptions {
  waiting: LocateOptions;
  concurrency: number;
  /** Where the documents come from. */
  sealSource: SealSource;
}

interface FetchedFile extends SealedFile {
  result: FileResult;
  error: EsignError | undefined;
}

/** The result for a target, with the result of its seal check. */
export interface CheckedFile extends Pick<FetchedFile, 'result' | 'error'> {
  seal: JudgedSeal | null;
  problem: { code: string; message: string } | null;
}

/**
 * Downloads files and checks their seals. Yields the results in the order of the targets; a failure is a result that contains the error. As
 * long as no seal is pinned, the first document of an envelope is held until the second is downloaded, because together they may pin the
 * seal.
 */
export async function* fetchFiles(
  bucket: Bucket,
  targets: readonly FileTarget[],
  options: FetchOptions,
): AsyncGenerator<CheckedFile, void, undefined> {
  let check: SealCheck | undefined;
  let held: FetchedFile[] = [];
  const released = () => {
    const files = held;
    held = [];
    return files.map((file) => ({ ...file, ...(check?.judge(file) ?? { seal: null, problem: null }) }));
  };
  try {
    for await (const file of mapAhead(targets, options.concurrency, (one) =>
      fetchFile(bucket, one, options),
    )) {
      if (held.some(({ result }) => result.envelopeId !== file.result.envelopeId)) yield* released();
      held.push(file);
      // The code that checks seals is loaded on first use.
      if (file.error === undefined)
        check ??= await (await import('../seal/seal-check.ts')).SealCheck.open(options.sealSource);
      if (!(await check?.pinFrom(held))) yield* released();
    }
  } catch (error) {
    yield* released();
    throw error;
  }
  yield* released();
}

async function fetchFile(bucket: Bucket, target: FileTarget, options: FetchOptions): Promise<FetchedFile> {
  let { key } = target;
  try {
    const file = await locate(target, options.waiting);
    key = file.key;
    const download = () => downloadFile(bucket, file, options);
    const { result, seal } = await waitUntilAvailable(download, options.waiting);
    return { result, status: file.status, seal, error: undefined };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    const { envelopeId, what } = target;
    const result: FileResult = {
      envelopeId,
      what,
      key,
      path: null,
      bytes: null,
      sha256: null,
      status: 'failed',
      error: { code: error.code, message: messageOf(error) },
    };
    return { result, status: null, seal: null, error };
  }
}
