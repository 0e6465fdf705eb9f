import { truncate, widthOf } from './text.ts';
import { RawKeys } from './typed-keys.ts';
import { waitingSign } from './waiting-sign.ts';

/** An alternate screen to which only changes are written. The shell's screen is restored, however the process ends. */
export interface LiveScreen {
  readonly columns: number;
  readonly rows: number;
  /** Shows these lines, cut to the width of the screen. */
  draw(lines: readonly string[]): void;
  /** Restores the shell's screen and cursor. Can be called more than once. */
  close(): void;
}

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const FALLBACK = { columns: 80, rows: 24 };

/**
 * Switches to an alternate screen without a cursor and without line wrapping.
 * @param redraw called when the size has changed or the process continues after Ctrl-Z
 */
export function openLiveScreen(stream: NodeJS.WriteStream, redraw: () => void): LiveScreen {
  let shown: readonly string[] = [];
  let isOpen = true;
  const release = waitingSign.hold();
  const keys = new RawKeys();
  const enter = () => {
    keys.start();
    shown = [];
    stream.write(ENTER);
  };
  const onResize = () => {
    shown = [];
    stream.write('\u001b[2J');
    redraw();
  };
  const onSuspend = () => {
    keys.stop();
    stream.write(LEAVE);
    process.kill(process.pid, 'SIGSTOP');
  };
  const onContinue = () => {
    enter();
    redraw();
  };
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    stream.off('resize', onResize);
    process.off('exit', close);
    process.off('SIGTSTP', onSuspend);
    process.off('SIGCONT', onContinue);
    keys.stop();
    stream.write(LEAVE);
    release();
  };
  stream.on('resize', onResize);
  process.on('exit', close);
  process.on('SIGTSTP', onSuspend);
  process.on('SIGCONT', onContinue);
  enter();
  return {
    get columns() {
      return stream.columns || FALLBACK.columns;
    },
    get rows() {
      return stream.rows || FALLBACK.rows;
    },
    draw(lines) {
      if (!isOpen) return;
      const fitting = lines.slice(0, this.rows).map((line) => clip(line, this.columns));
      stream.write(difference(shown, fitting));
      shown = fitting;
    },
    close,
  };
}

/** Returns the output that changes one screen into another. */
function difference(before: readonly string[], after: readonly string[]): string {
  const changed = after.map((line, index) =>
    line === before[index] ? '' : `\u001b[${index + 1};1H\u001b[2K${line}\u001b[0m`,
  );
  const rest = before.length > after.length ? `\u001b[${after.length + 1};1H\u001b[J` : '';
  return changed.join('') + rest;
}

const STYLE = /(\u001b\[[0-9;]*m)/;

/** Cuts a line to the width. Escape codes for colors are kept. */
function clip(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let room = width;
  const parts = line.split(STYLE).map((part) => {
    if (STYLE.test(part)) return part;
    const shown = room > 0 ? truncate(part, room) : '';
    // Nothing fits after a part that was cut.
    room = shown === part ? room - widthOf(shown) : 0;
    return shown;
  });
  return parts.join('');
}
