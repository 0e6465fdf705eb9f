import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import type { Clock } from '../kernel/clock.ts';
import { EsignError, messageOf, StorageError, UsageError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import type { Paper } from '../kernel/vocabulary.ts';
import type { Bucket } from './bucket.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './download.ts';
import { fileNameFrom } from './name-template.ts';
import { fileOf, keyOf, type WantedFile } from './papers.ts';

/** How long to wait for a file that should be there but is not yet, in ms. */
export interface Patience {
  waitMs: number;
  clock: Clock;
  signal?: AbortSignal;
  onWait?: (reason: string) => void;
}

const LOOK_EVERY_MS = 1_000;

/**
 * The file of an envelope's paper. A completed envelope whose key is still null is asked for again
 * until the patience ends; one that is not completed has nothing to wait for.
 */
export async function locatePaper(
  client: Client,
  id: string,
  what: Paper,
  patience: Patience,
  nameTemplate?: string,
): Promise<WantedFile> {
  const deadline = patience.clock.now() + patience.waitMs;
  for (;;) {
    const envelope = await client.envelopes.get(id, patience.signal);
    const soon = what === 'document' || envelope.status === 'COMPLETED';
    if (keyOf(envelope, what) !== undefined || !soon || patience.clock.now() >= deadline)
      return named(fileOf(envelope, what), envelope, what, nameTemplate);
    patience.onWait?.(`The service has not named the ${what} file of ${id} yet; waiting.`);
    await patience.clock.sleep(LOOK_EVERY_MS, patience.signal);
  }
}

function named(file: WantedFile, envelope: Envelope, what: Paper, template: string | undefined): WantedFile {
  return template === undefined ? file : { ...file, fileName: fileNameFrom(template, envelope, what) };
}

/**
 * Finds where every file goes before any is fetched.
 * @throws UsageError when two would get the same name.
 */
export async function locateAll(wishes: readonly FileWish[], limit: number): Promise<FileWish[]> {
  const located: FileWish[] = [];
  const names = new Map<string, string>();
  const locate = async (wish: FileWish) => ({
    wish,
    file: await wish
      .locate()
      .catch((error: unknown) => (error instanceof EsignError ? error : Promise.reject(error))),
  });
  for await (const { wish, file } of mapInOrder(wishes, limit, locate)) {
    if (file instanceof EsignError) {
      located.push({ ...wish, locate: () => Promise.reject(file) });
      continue;
    }
    // Names that differ in case only are one file on many systems.
    const name = file.fileName.toLowerCase();
    const other = names.get(name);
    if (other !== undefined)
      throw new UsageError(
        `Two files would be named ${file.fileName}: ${other} and ${file.key}. Nothing was fetched.`,
        {
          hint: 'Give a --name-template that tells them apart.',
        },
      );
    names.set(name, file.key);
    located.push({ ...wish, locate: () => Promise.resolve(file) });
  }
  return located;
}

/** Runs a fetch again while the object is not there yet and the patience lasts. */
export async function untilThere<T>(fetch: () => Promise<T>, patience: Patience): Promise<T> {
  const deadline = patience.clock.now() + patience.waitMs;
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      const missing = error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND';
      if (!missing || patience.clock.now() >= deadline) throw error;
      patience.onWait?.(`${error.message} Waiting for it.`);
      await patience.clock.sleep(LOOK_EVERY_MS, patience.signal);
    }
  }
}

/** One file to fetch, however its key is found. */
export interface FileWish {
  envelopeId: string | null;
  what: Paper | null;
  /** The key, where it is known beforehand. */
  key: string | null;
  locate: () => Promise<WantedFile>;
}

/** A result for each wish; a failure is a result, too, and carries its error. */
export async function fetchFile(
  bucket: Bucket,
  wish: FileWish,
  options: DownloadOptions,
  patience: Patience,
): Promise<{ result: FileResult; error: EsignError | undefined }> {
  try {
    const wanted = await wish.locate();
    return {
      result: await untilThere(() => downloadFile(bucket, wanted, options), patience),
      error: undefined,
    };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    const failed = {
      envelopeId: wish.envelopeId,
      what: wish.what,
      key: wish.key,
      path: null,
      bytes: null,
      sha256: null,
    };
    return {
      result: { ...failed, status: 'failed', error: { code: error.code, message: messageOf(error) } },
      error,
    };
  }
}
