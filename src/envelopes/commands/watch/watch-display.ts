import { reportOf } from '../../../cli/error-report.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { safeLine, truncate, widthOf } from '../../../output/text.ts';
import { RawKeys } from '../../../output/typed-keys.ts';
import { waitingIndicator } from '../../../output/waiting-indicator.ts';
import type { Context } from '../../../session/context.ts';
import { isOver, type StatusChange } from '../../watch/watch-envelopes.ts';
import { renderChange } from './watch-lines.ts';
import { WatchTable } from './watch-table.ts';

/** How a watch is shown: JSON lines, lines, or a live table. */
export interface WatchDisplay {
  change(change: StatusChange): Promise<void> | void;
  gone(id: string, from: string | null, error: Error): Promise<void> | void;
  /** Shows a notice immediately and again at the end. */
  notify(text: string): Promise<void> | void;
  /** Shows that the service is down; undefined when it is back. */
  outage(text: string | undefined): Promise<void> | void;
  close(): Promise<void>;
}

export interface DisplayOptions {
  ids: readonly string[];
  until: readonly string[];
  title: string;
}

const RECOVERED = 'The service is responding again.';
/** Redraws relative times. */
const REDRAW_MS = 5_000;
/** The number of notices to repeat when the screen is restored. */
const MAX_MESSAGES = 20;
/** Changes within this time are drawn together. */
const REDRAW_DELAY_MS = 40;

export function openDisplay(options: DisplayOptions, context: Context): Promise<WatchDisplay> {
  const { terminal } = context;
  const { json } = terminal;
  if (json) return Promise.resolve(jsonDisplay(context));
  const isLive = terminal.outIsTty && !terminal.still && Boolean(process.stdout.columns);
  return isLive ? Promise.resolve(liveDisplay(options, context)) : lineDisplay(options, context.terminal);
}

function jsonDisplay(context: Context): WatchDisplay {
  const at = () => new Date(context.session.now()).toISOString();
  return {
    change: (change) => context.terminal.jsonLine(change),
    gone: (envelopeId, from, error) => {
      const line = { at: at(), envelopeId, from, to: null, signer: null, envelope: null };
      return context.terminal.jsonLine({ ...line, error: reportOf(error) });
    },
    notify: (text) => context.terminal.notice(text),
    outage: (text) => context.terminal.notice(text ?? RECOVERED),
    close: () => Promise.resolve(),
  };
}

async function lineDisplay(options: DisplayOptions, terminal: CommandTerminal): Promise<WatchDisplay> {
  const spinner = await startSpinner(options.title, terminal);
  const notice = (text: string) => spinner.aside(() => terminal.notice(text));
  return {
    change: (change) => spinner.aside(() => terminal.hidingSecrets().out(renderChange(change, terminal))),
    gone: (id, _, error) => notice(`${id}: ${sentenceOf(error)}`),
    notify: notice,
    outage: (text) => notice(text ?? RECOVERED),
    close: () => {
      spinner.stop();
      return Promise.resolve();
    },
  };
}

function liveDisplay({ ids, until, title }: DisplayOptions, context: Context): WatchDisplay {
  const { terminal } = context;
  const { signal } = context.interrupt;
  const table = new WatchTable(ids, title);
  const messages: string[] = [];
  let outage: string | undefined;
  let pendingDraw: NodeJS.Timeout | undefined;
  const footer = (columns: number) => {
    const text = outage ?? messages.at(-1);
    const line = truncate(safeLine(text ?? 'Ctrl-C stops watching.'), columns);
    return text === undefined ? terminal.style('dim', line) : line;
  };
  const draw = () => {
    clearTimeout(pendingDraw);
    pendingDraw = undefined;
    const { columns, rows } = screen;
    const frame = table.frame({ ...terminal, columns }, rows, context.session.now(), footer(columns));
    screen.draw(frame.map((line) => terminal.redactor.redact(line)));
  };
  const screen = openLiveScreen(process.stdout, draw);
  const redraw = setInterval(draw, REDRAW_MS).unref();
  const leave = () => {
    clearInterval(redraw);
    clearTimeout(pendingDraw);
    screen.close();
  };
  // Closes immediately, because a second Ctrl-C quits without waiting for the clean stop.
  signal.addEventListener('abort', leave, { once: true });
  const scheduleDraw = () => {
    pendingDraw ??= setTimeout(draw, REDRAW_DELAY_MS);
  };
  const notify = (text: string) => {
    messages.push(context.terminal.redactor.redact(text));
    if (messages.length > MAX_MESSAGES) messages.shift();
    scheduleDraw();
  };
  draw();
  return {
    change(change) {
      table.take(change, isOver({ id: change.envelopeId, status: change.to }, until));
      scheduleDraw();
    },
    gone(id, _, error) {
      table.gone(id, new Date(context.session.now()).toISOString());
      notify(`${id}: ${sentenceOf(error)}`);
    },
    notify,
    outage(text) {
      outage = text;
      scheduleDraw();
    },
    async close() {
      leave();
      signal.removeEventListener('abort', leave);
      await terminal.hidingSecrets().out(table.final(terminal, screen.rows, context.session.now()));
      for (const text of messages) context.terminal.notice(text);
    },
  };
}

/** An alternate screen to which only changes are written. The shell's screen is restored, however the process ends. */
interface LiveScreen {
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
function openLiveScreen(stream: NodeJS.WriteStream, redraw: () => void): LiveScreen {
  let shown: readonly string[] = [];
  let isOpen = true;
  const release = waitingIndicator.hold();
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
