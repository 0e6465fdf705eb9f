import {
  type EnvelopeIndex,
  type IndexProgress,
  IndexUnusable,
} from '../../envelope-index/envelope-index.ts';
import { diskReason, isDiskError } from '../../kernel/files/disk-reason.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { Context } from '../context.ts';
import { IndexProgressLine } from './index-progress.ts';

/** What reading from the index needs to know of the running command. */
interface Running {
  now: () => number;
  signal: AbortSignal;
  onProgress: (progress: IndexProgress) => void;
}

/** Reads from the index with its progress shown; from the service, if there is no index or it can't be used. */
export async function indexOrService<T>(
  read: { index: (index: EnvelopeIndex, running: Running) => Promise<T>; service: () => Promise<T> },
  context: Context,
): Promise<T> {
  const { session, terminal, interrupt } = context;
  const index = await session.index();
  if (index === undefined) return read.service();
  const line = new IndexProgressLine(context);
  try {
    return await read.index(index, {
      now: () => session.now(),
      signal: interrupt.signal,
      onProgress: (progress) => line.show(progress),
    });
  } catch (error) {
    const why = whyUnusable(error);
    if (why === undefined) throw error;
    await line.stop();
    terminal.notice(`${why}; every envelope is read from the service.`);
    return await read.service();
  } finally {
    await line.stop();
  }
}

/** Returns why the index can't be used; undefined for other errors. Searches work without a place to store it. */
export function whyUnusable(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be kept in ${stateDir()} (${diskReason(error)})` : undefined;
}
