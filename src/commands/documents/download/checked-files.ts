import type { Context } from '../../../cli/context.ts';
import type { Bucket } from '../../../documents/bucket/bucket.ts';
import { type FetchedFile, type FileTarget, fetchFile } from '../../../documents/download/fetch.ts';
import type { DownloadOptions } from '../../../documents/download/file.ts';
import type { LocateOptions } from '../../../documents/download/locate.ts';
import type { TrustedSeal } from '../../../documents/seal/judge.ts';
import { mapAhead } from '../../../kernel/streams.ts';
import type { SealCheck } from '../seals.ts';

/** A fetched file with the result of its seal check. */
export interface CheckedFile extends Pick<FetchedFile, 'result' | 'error'> {
  seal: TrustedSeal | null;
  problem: { code: string; message: string } | null;
}

export interface FetchOptions extends DownloadOptions {
  waiting: LocateOptions;
  concurrency: number;
}

/**
 * Fetches files and checks their seals. Yields the results in the order of the targets. As long as no seal is pinned, the first
 * document of an envelope is held until the second is fetched, because together they may pin the seal.
 */
export async function* fetchChecked(
  bucket: Bucket,
  targets: readonly FileTarget[],
  options: FetchOptions,
  context: Context,
): AsyncGenerator<CheckedFile, void, undefined> {
  const { waiting, concurrency } = options;
  // The code that checks seals is loaded for the first file.
  let loading: Promise<SealCheck> | undefined;
  let checkSeal: SealCheck | undefined;
  let held: FetchedFile[] = [];
  const released = () => {
    const files = held;
    held = [];
    return files.map((file) => ({ ...file, ...(checkSeal?.judge(file) ?? { seal: null, problem: null }) }));
  };
  const work = (target: FileTarget) => fetchFile(bucket, target, options, waiting);
  try {
    for await (const file of mapAhead(targets, concurrency, work)) {
      if (held.some(({ result }) => result.envelopeId !== file.result.envelopeId)) yield* released();
      held.push(file);
      if (file.error === undefined) {
        loading ??= import('../seals.ts').then((seals) => seals.createSealCheck(context));
        checkSeal = await loading;
        await checkSeal.pinFrom(held);
      }
      if (!checkSeal?.canPin(held)) yield* released();
    }
  } catch (error) {
    yield* released();
    throw error;
  }
  yield* released();
}
