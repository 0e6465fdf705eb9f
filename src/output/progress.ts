import { clockText, counted, grouped } from '../kernel/duration.ts';
import { bytesInWords } from './bytes.ts';
import { type Spinner, startSpinner } from './spinner.ts';
import type { Terminal } from './terminal.ts';

/** The progress of downloading several files. Times are in ms. */
export interface Progress {
  files: number;
  done: number;
  failed: number;
  /** The number of files with known length, and their total length. */
  begun: number;
  expected: number;
  /** The number of bytes received. */
  bytes: number;
  startedAt: number;
}

/** Formats the progress: `412 of 1,000 files  82.4 MB  41.2 MB/s  14s left`. */
function progressText(progress: Progress, now: number): string {
  const { files, done, failed, bytes } = progress;
  const words = [files === 1 ? 'Fetching' : `${grouped(done)} of ${counted(files, 'file')}`];
  if (failed > 0) words.push(`${grouped(failed)} failed`);
  const whole = files === 1 && progress.expected > 0 ? ` of ${bytesInWords(progress.expected)}` : '';
  words.push(`${bytesInWords(bytes)}${whole}`);
  const seconds = (now - progress.startedAt) / 1_000;
  if (seconds >= 1 && bytes > 0) {
    const rate = bytes / seconds;
    words.push(`${bytesInWords(Math.round(rate))}/s`);
    const left = bytesLeft(progress) / rate;
    if (left >= 1) words.push(`${clockText(left)} left`);
  }
  return words.join('  ');
}

/** Estimates the remaining bytes. Files that haven't been started are assumed to have the average length. */
function bytesLeft({ files, done, begun, expected, bytes }: Progress): number {
  const notBegun = Math.max(0, files - Math.max(begun, done));
  const usual = begun === 0 ? 0 : expected / begun;
  return Math.max(0, expected - bytes) + notBegun * usual;
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
