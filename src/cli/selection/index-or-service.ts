import {
  type EnvelopeIndex,
  type IndexProgress,
  IndexUnusable,
} from '../../envelope-index/envelope-index.ts';
import { diskReason, isDiskError } from '../../kernel/files/disk-reason.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import type { Context } from '../context.ts';
import { IndexProgressLine } from './index-progress.ts';

/** The parts of a running command that are needed to read from the index. */
interface Running {
  now: () => number;
  signal: AbortSignal;
  onProgress: (progress: IndexProgress) => void;
}

/** Reads from the index and shows the progress. Falls back to the service if the index is missing or unusable. */
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
    const why = unusableReason(error);
    if (why === undefined) throw error;
    await line.stop();
    terminal.notice(`${why}. Reading all envelopes from the service.`);
    return await read.service();
  } finally {
    await line.stop();
  }
}

/** Returns why the index can't be used, or undefined for other errors. Searches also work if the index can't be stored. */
export function unusableReason(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be stored in ${stateDir()} (${diskReason(error)})` : undefined;
}
