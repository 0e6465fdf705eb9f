import { durationInWords } from '../kernel/duration.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';
import { waitingIndicator } from './waiting-indicator.ts';

const TICK_MS = 1_000;

/**
 * Shows why and how much longer the command waits, with a countdown on a terminal or else a single notice. Call the returned
 * function to remove the line.
 */
export function startCountdown(why: string, ms: number, terminal: Terminal): () => void {
  const line = (left: number) => `${safeLine(why)} Continuing in ${durationInWords(left)}.`;
  if (!terminal.errIsTty || terminal.still || !process.stderr.columns) {
    terminal.err(`${line(ms)}\n`);
    return () => undefined;
  }
  const release = waitingIndicator.hold();
  const until = Date.now() + ms;
  const draw = () => {
    const text = line(Math.max(0, until - Date.now())).slice(0, process.stderr.columns - 1);
    terminal.err(`\r\u001b[2K${text}`);
  };
  draw();
  const timer = setInterval(draw, TICK_MS).unref();
  return () => {
    clearInterval(timer);
    terminal.err('\r\u001b[2K');
    release();
  };
}
