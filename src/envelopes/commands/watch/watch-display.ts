import { reportOf } from '../../../cli/error-report.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { safeLine, truncate, widthOf } from '../../../output/text.ts';
import { waitingIndicator } from '../../../output/waiting-indicator.ts';
import type { Context } from '../../../session/context.ts';
import { isOver, type StatusChange } from '../../watch/watch-envelopes.ts';
import { renderChange } from './watch-lines.ts';
import { WatchTable } from './watch-table.ts';

/** How a watch is shown: JSON lines, lines, or a live table. */
export interface WatchDisplay {
  change(change: StatusChange): Promise<void> | void;
  gone(id: string, from: string | null, error: Error): Promise<void> | void;
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
/** Changes within this time are drawn together. */
const REDRAW_DELAY_MS = 40;

export function openDisplay(options: DisplayOptions, context: Context): Promise<WatchDisplay> {
  const { terminal } = context;
  if (terminal.json) return Promise.resolve(jsonDisplay(context));
  const isLive = terminal.outIsTty && !terminal.still && Boolean(process.stdout.columns);
  return isLive ? Promise.resolve(liveDisplay(options, context)) : lineDisplay(options, terminal);
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

/** A table that is redrawn in place. Notices are printed above it. */
function liveDisplay({ ids, until, title }: DisplayOptions, { terminal, session }: Context): WatchDisplay {
  const table = new WatchTable(ids, title);
  const lines = new LiveLines(process.stdout);
  let outage: string | undefined;
  let pending: NodeJS.Timeout | undefined;
  const draw = () => {
    clearTimeout(pending);
    pending = undefined;
    const footer = safeLine(outage ?? 'Ctrl-C stops watching.');
    const foot = outage === undefined ? terminal.style('dim', footer) : footer;
    const frame = table.frame(terminal, lines.room, session.now(), foot);
    lines.draw(frame.map((line) => terminal.redactor.redact(line)));
  };
  const drawSoon = () => {
    pending ??= setTimeout(draw, REDRAW_DELAY_MS);
  };
  const notify = (text: string) => {
    lines.erase();
    terminal.notice(text);
    draw();
  };
  // The shell has written below the table.
  const onContinue = () => {
    lines.leave();
    draw();
  };
  const onResize = () => {
    lines.clear();
    draw();
  };
  const release = waitingIndicator.hold();
  const redraw = setInterval(draw, REDRAW_MS).unref();
  process.stdout.on('resize', onResize);
  process.on('SIGCONT', onContinue);
  draw();
  return {
    change(change) {
      table.take(change, isOver({ id: change.envelopeId, status: change.to }, until));
      drawSoon();
    },
    gone(id, _, error) {
      table.gone(id, new Date(session.now()).toISOString());
      notify(`${id}: ${sentenceOf(error)}`);
    },
    notify,
    outage(text) {
      outage = text;
      drawSoon();
    },
    async close() {
      clearInterval(redraw);
      clearTimeout(pending);
      process.stdout.off('resize', onResize);
      process.off('SIGCONT', onContinue);
      lines.erase();
      release();
      await terminal.hidingSecrets().out(table.final(terminal, lines.room, session.now()));
    },
  };
}

/** Lines at the end of the screen that replace each other. */
class LiveLines {
  readonly #stream: NodeJS.WriteStream;
  #shown: readonly string[] = [];

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** The most lines that fit above the cursor. */
  get room(): number {
    return (this.#stream.rows || 24) - 1;
  }

  /** Shows these lines, cut to the width of the screen. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, this.room).map((line) => clip(line, this.#columns));
    this.#stream.write(this.#eraser() + shown.map((line) => `${line}\u001b[0m\n`).join(''));
    this.#shown = shown;
  }

  erase(): void {
    this.#stream.write(this.#eraser());
    this.#shown = [];
  }

  /** Clears the screen, on which the lines may have been wrapped. */
  clear(): void {
    this.#stream.write('\u001b[2J\u001b[H');
    this.#shown = [];
  }

  /** Leaves the lines where they are. */
  leave(): void {
    this.#shown = [];
  }

  get #columns(): number {
    return this.#stream.columns || 80;
  }

  #eraser(): string {
    return this.#shown.length === 0 ? '' : `\r\u001b[${this.#shown.length}A\u001b[J`;
  }
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
