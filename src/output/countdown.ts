import { durationInWords } from '../kernel/duration.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';
import { waitingSign } from './waiting-sign.ts';

const TICK_MS = 1_000;

/**
 * Says that something waits and for how much longer: a line that counts down on a terminal, one notice elsewhere.
 * Returns what takes the line off the screen.
 */
export function startCountdown(why: string, ms: number, terminal: Terminal): () => void {
  const line = (left: number) => `${safeLine(why)} Going on in ${durationInWords(left)}.`;
  if (!terminal.errIsTty || terminal.still || !process.stderr.columns) {
    terminal.err(`${line(ms)}\n`);
    return () => undefined;
  }
  const release = waitingSign.hold();
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
