import { reportOf } from '../../../cli/error-report.ts';
import type { Context } from '../../../cli/session/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { sentenceOf } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { safeLine } from '../../../output/text.ts';
import { waitingIndicator } from '../../../output/waiting-indicator.ts';
import type { StatusChange } from '../../watch/watch-envelopes.ts';
import { LiveLines } from './live-lines.ts';
import { renderChange } from './watch-lines.ts';
import { WatchTable } from './watch-table.ts';

/** How a watch is shown: JSON lines, lines, or a live table. */
export interface WatchDisplay {
  change(change: StatusChange): Promise<void> | void;
  gone(id: string, error: Error): Promise<void> | void;
  notify(text: string): Promise<void> | void;
  /** Shows that the service is down; undefined when it is back. */
  outage(text: string | undefined): Promise<void> | void;
  close(): Promise<void> | void;
}

const RECOVERED = 'The service is responding again.';
/** How often a live table is redrawn if something has changed, such as a relative time. */
const REDRAW_MS = 200;

export function openDisplay(
  ids: readonly string[],
  title: string,
  context: Context,
): Promise<WatchDisplay> | WatchDisplay {
  const { terminal } = context;
  if (terminal.json) return jsonDisplay(context);
  const isLive = terminal.outIsTty && !terminal.still && Boolean(process.stdout.columns);
  return isLive ? liveDisplay(new WatchTable(ids, title), context) : lineDisplay(title, terminal);
}

function jsonDisplay({ terminal, session }: Context): WatchDisplay {
  return {
    change: (change) => terminal.jsonLine(change),
    gone: (envelopeId, error) => {
      const at = new Date(session.now()).toISOString();
      const line = { at, envelopeId, from: null, to: null, signer: null, envelope: null };
      return terminal.jsonLine({ ...line, error: reportOf(error, terminal) });
    },
    notify: (text) => terminal.notice(text),
    outage: (text) => terminal.notice(text ?? RECOVERED),
    close: () => undefined,
  };
}

async function lineDisplay(title: string, terminal: CommandTerminal): Promise<WatchDisplay> {
  const spinner = await startSpinner(title, terminal);
  const notice = (text: string) => spinner.aside(() => terminal.notice(text));
  return {
    change: (change) => spinner.aside(() => terminal.hidingSecrets().out(renderChange(change, terminal))),
    gone: (id, error) => notice(`${id}: ${sentenceOf(error)}`),
    notify: notice,
    outage: (text) => notice(text ?? RECOVERED),
    close: () => spinner.stop(),
  };
}

/** A table that is redrawn in place. Notices are printed above it. */
function liveDisplay(table: WatchTable, { terminal, session }: Context): WatchDisplay {
  const lines = new LiveLines(process.stdout);
  let outage: string | undefined;
  const draw = () => {
    const foot = outage === undefined ? terminal.style('dim', 'Ctrl-C stops watching.') : safeLine(outage);
    const frame = table.frame(terminal, lines.room, session.now(), foot);
    lines.draw(frame.map((line) => terminal.redactor.redact(line)));
  };
  const notify = (text: string) => {
    lines.erase();
    terminal.notice(text);
    draw();
  };
  const release = waitingIndicator.hold();
  const redraw = setInterval(draw, REDRAW_MS).unref();
  draw();
  return {
    change: (change) => table.take(change),
    gone: (id, error) => {
      table.gone(id, new Date(session.now()).toISOString());
      notify(`${id}: ${sentenceOf(error)}`);
    },
    notify,
    outage: (text) => {
      outage = text;
    },
    close: async () => {
      clearInterval(redraw);
      lines.erase();
      release();
      await terminal.hidingSecrets().out(table.final(terminal, lines.room, session.now()));
    },
  };
}
