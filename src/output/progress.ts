import { counted, grouped } from '../kernel/duration.ts';
import { bytesInWords } from './bytes.ts';
import { type Spinner, startSpinner } from './spinner.ts';
import type { Terminal } from './terminal.ts';

/** The progress of downloading several files. Times are in ms. */
export interface Progress {
  files: number;
  done: number;
  failed: number;
  /** The number of bytes received. */
  bytes: number;
  startedAt: number;
}

/** Formats the progress: `412 of 1,000 files  82.4 MB  41.2 MB/s`. */
function progressText(progress: Progress, now: number): string {
  const { files, done, failed, bytes } = progress;
  const words = [files === 1 ? 'Fetching' : `${grouped(done)} of ${counted(files, 'file')}`];
  if (failed > 0) words.push(`${grouped(failed)} failed`);
  words.push(bytesInWords(bytes));
  const seconds = (now - progress.startedAt) / 1_000;
  if (seconds >= 1 && bytes > 0) words.push(`${bytesInWords(Math.round(bytes / seconds))}/s`);
  return words.join('  ');
}

const REDRAW_MS = 200;

/** Starts a progress line on stderr if it is a terminal; otherwise, shows nothing. */
export async function startProgress(
  progress: Progress,
  terminal: Terminal,
  quiet: boolean,
): Promise<Spinner> {
  const spinner = await startSpinner(progressText(progress, Date.now()), terminal, quiet);
  const timer = setInterval(() => spinner.text(progressText(progress, Date.now())), REDRAW_MS);
  timer.unref();
  return {
    ...spinner,
    stop: () => {
      clearInterval(timer);
      spinner.stop();
    },
  };
}
