import type { Context } from '../../../cli/context.ts';
import { reportOf } from '../../../cli/report.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { isOver, type StatusChange } from '../../../envelopes/watch/watch.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { openLiveScreen } from '../../../output/live-screen.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { safeLine, truncate } from '../../../output/text.ts';
import { WatchTable } from './table.ts';
import { renderChange } from './view.ts';

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

/** Opens the display for the output format and the terminal. */
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
