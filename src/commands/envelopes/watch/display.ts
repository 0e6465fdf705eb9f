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
export interface WatchShow {
  change(change: StatusChange): Promise<void> | void;
  gone(id: string, from: string | null, error: Error): Promise<void> | void;
  /** Shows a notice immediately and again at the end. */
  say(text: string): Promise<void> | void;
  /** Shows that the service is down; undefined when it is back. */
  away(text: string | undefined): Promise<void> | void;
  close(): Promise<void>;
}

export interface ShowOptions {
  ids: readonly string[];
  until: readonly string[];
  title: string;
}

const BACK = 'The service is back.';
/** Redraws relative times. */
const REDRAW_MS = 5_000;
/** The number of notices to repeat when the screen is restored. */
const MAX_MESSAGES = 20;
/** Changes within this time are drawn together. */
const REDRAW_DELAY_MS = 40;

/** Opens the display for the output format and the terminal. */
export function openShow(options: ShowOptions, context: Context): Promise<WatchShow> {
  const { terminal } = context;
  const { json } = terminal;
  if (json) return Promise.resolve(jsonShow(context));
  const isLive = terminal.outIsTty && !terminal.still && Boolean(process.stdout.columns);
  return isLive ? Promise.resolve(liveShow(options, context)) : lineShow(options, context.terminal);
}

function jsonShow(context: Context): WatchShow {
  const at = () => new Date(context.session.now()).toISOString();
  return {
    change: (change) => context.terminal.jsonLine(change),
    gone: (envelopeId, from, error) => {
      const line = { at: at(), envelopeId, from, to: null, signer: null, envelope: null };
      return context.terminal.jsonLine({ ...line, error: reportOf(error) });
    },
    say: (text) => context.terminal.notice(text),
    away: (text) => context.terminal.notice(text ?? BACK),
    close: () => Promise.resolve(),
  };
}

async function lineShow(options: ShowOptions, terminal: CommandTerminal): Promise<WatchShow> {
  const spinner = await startSpinner(options.title, terminal);
  const notice = (text: string) => spinner.aside(() => terminal.notice(text));
  return {
    change: (change) => spinner.aside(() => terminal.hidingSecrets().out(renderChange(change, terminal))),
    gone: (id, _, error) => notice(`${id}: ${sentenceOf(error)}`),
    say: notice,
    away: (text) => notice(text ?? BACK),
    close: () => {
      spinner.stop();
      return Promise.resolve();
    },
  };
}

function liveShow({ ids, until, title }: ShowOptions, context: Context): WatchShow {
  const { terminal } = context;
  const { signal } = context.interrupt;
  const table = new WatchTable(ids, title);
  const messages: string[] = [];
  let away: string | undefined;
  let planned: NodeJS.Timeout | undefined;
  const foot = (columns: number) => {
    const text = away ?? messages.at(-1);
    const line = truncate(safeLine(text ?? 'Ctrl-C stops watching.'), columns);
    return text === undefined ? terminal.style('dim', line) : line;
  };
  const draw = () => {
    clearTimeout(planned);
    planned = undefined;
    const { columns, rows } = screen;
    const frame = table.frame({ ...terminal, columns }, rows, context.session.now(), foot(columns));
    screen.draw(frame.map((line) => terminal.redactor.redact(line)));
  };
  const screen = openLiveScreen(process.stdout, draw);
  const redraw = setInterval(draw, REDRAW_MS).unref();
  const leave = () => {
    clearInterval(redraw);
    clearTimeout(planned);
    screen.close();
  };
  // Closes immediately, because a second Ctrl-C quits without waiting for the clean stop.
  signal.addEventListener('abort', leave, { once: true });
  const soon = () => {
    planned ??= setTimeout(draw, REDRAW_DELAY_MS);
  };
  const say = (text: string) => {
    messages.push(context.terminal.redactor.redact(text));
    if (messages.length > MAX_MESSAGES) messages.shift();
    soon();
  };
  draw();
  return {
    change(change) {
      table.take(change, isOver({ id: change.envelopeId, status: change.to }, until));
      soon();
    },
    gone(id, _, error) {
      table.gone(id, new Date(context.session.now()).toISOString());
      say(`${id}: ${sentenceOf(error)}`);
    },
    say,
    away(text) {
      away = text;
      soon();
    },
    async close() {
      leave();
      signal.removeEventListener('abort', leave);
      await terminal.hidingSecrets().out(table.final(terminal, screen.rows, context.session.now()));
      for (const text of messages) context.terminal.notice(text);
    },
  };
}
