import { durationInWords } from '../kernel/duration.ts';
import { bytesInWords } from './file-view.ts';
import { startSpinner } from './spinner.ts';
import type { Terminal } from './terminal.ts';

export interface DownloadProgress {
  add(bytes: number): void;
  /** Takes the line off the screen while a file's result is written. */
  aside(write: () => Promise<void> | void): Promise<void>;
  stop(): void;
}

const REDRAW_MS = 100;

/** A line with files, bytes, rate and time left on a terminal; nothing elsewhere. */
export async function startDownloadProgress(
  files: number,
  terminal: Terminal,
  quiet: boolean,
): Promise<DownloadProgress> {
  const spinner = await startSpinner('Fetching', terminal, quiet);
  const startedAt = performance.now();
  let [done, bytes, drawnAt] = [0, 0, startedAt];
  const draw = () => {
    const now = performance.now();
    if (now - drawnAt < REDRAW_MS) return;
    drawnAt = now;
    const seconds = (now - startedAt) / 1_000;
    const left =
      done > 0 && files > done ? `, ${durationInWords(((files - done) * seconds * 1_000) / done)} left` : '';
    spinner.text(
      `Fetching ${done} of ${files}, ${bytesInWords(bytes)}, ${bytesInWords(Math.round(bytes / seconds))}/s${left}`,
    );
  };
  return {
    add(more) {
      bytes += more;
      draw();
    },
    async aside(write) {
      done++;
      await spinner.aside(write);
      draw();
    },
    stop: () => spinner.stop(),
  };
}
