import { counted, grouped } from '../../../kernel/duration.ts';
import { ENVELOPE_STATUSES, isTerminal } from '../../../kernel/statuses.ts';
import { statusColor } from '../../../output/status-marks.ts';
import { renderTable, type TableColumn } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine, truncate } from '../../../output/text.ts';
import { relativeTime } from '../../../output/time.ts';
import type { StatusChange } from '../../watch/watch-envelopes.ts';
import { describeSignerAction, progressOf } from './watch-lines.ts';

interface Row {
  id: string;
  status: string;
  /** Such as `1/2`. */
  signed: string;
  expiresAt: string | null | undefined;
  /** The last change and its time. */
  lastChange: string;
  at: string | null | undefined;
  /** The number of the last change; 0 before the first. */
  changeNumber: number;
}

const ORDER: readonly string[] = ENVELOPE_STATUSES;
/** The lines for the title, the heading, and the footer. */
const FRAME_LINES = 3;
/** Terminals with at least this many rows get blank lines. */
const BLANK_LINES_FROM_ROWS = 10;

/** The live table: a row for each envelope in the given order. If not all fit, the last changed ones come first. */
export class WatchTable {
  readonly #rows = new Map<string, Row>();
  readonly #title: string;
  #changes = 0;

  constructor(ids: readonly string[], title: string) {
    this.#title = title;
    const unknown = { status: '', signed: '', expiresAt: null, lastChange: '', at: null, changeNumber: 0 };
    for (const id of ids) this.#rows.set(id, { id, ...unknown });
  }

  take(change: StatusChange): void {
    const { envelopeId: id, envelope, from, to: status } = change;
    const { total, signed } = progressOf(envelope);
    const last =
      from === null
        ? {
            lastChange: status === 'SENT' ? 'sent' : '',
            at: status === 'SENT' ? envelope.sentAt : null,
            changeNumber: 0,
          }
        : {
            lastChange: describeSignerAction(change) ?? `was ${from}`,
            at: change.at,
            changeNumber: ++this.#changes,
          };
    const expiresAt = isTerminal(status) ? null : envelope.expiresAt;
    this.#rows.set(id, { id, status, signed: total === 0 ? '' : `${signed}/${total}`, expiresAt, ...last });
  }

  gone(id: string, at: string): void {
    const changeNumber = ++this.#changes;
    const row = { status: 'GONE', signed: '', expiresAt: null, lastChange: 'not found', at, changeNumber };
    this.#rows.set(id, { id, ...row });
  }

  /** Renders the rows that fit, with a title and a footer. */
  frame(terminal: Terminal, lines: number, now: number, foot: string): string[] {
    const blank = lines >= BLANK_LINES_FROM_ROWS ? [''] : [];
    const room = Math.max(1, lines - FRAME_LINES - 2 * blank.length);
    const whole = truncate(`${this.#title}  ${this.#counts()}`, terminal.columns);
    const [head, rest] = [whole.slice(0, this.#title.length), whole.slice(this.#title.length)];
    const title = terminal.style('bold', head) + terminal.style('dim', rest);
    return [title, ...blank, ...this.#table(terminal, room, now), ...blank, foot];
  }

  final(terminal: Terminal, lines: number, now: number): string {
    return `${this.#table(terminal, Math.max(5, lines - FRAME_LINES), now).join('\n')}\n`;
  }

  #counts(): string {
    const counts = new Map<string, number>();
    for (const { status } of this.#rows.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
    counts.delete('');
    return [...counts]
      .sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b))
      .map(([status, count]) => `${grouped(count)} ${safeLine(status.toLowerCase().replaceAll('_', ' '))}`)
      .join(', ');
  }

  #table(terminal: Terminal, room: number, now: number): string[] {
    const rows = [...this.#rows.values()];
    const isWhole = rows.length <= room;
    const shown = isWhole
      ? rows
      : rows.sort((a, b) => b.changeNumber - a.changeNumber).slice(0, Math.max(1, room - 1));
    const table = renderTable(shown, columnsAt(now), terminal).trimEnd().split('\n');
    const more = this.#rows.size - shown.length;
    return isWhole ? table : [...table, terminal.style('dim', `… and ${counted(more, 'other')}`)];
  }
}

function columnsAt(now: number): TableColumn<Row>[] {
  return [
    { key: 'id', fixed: true },
    {
      key: 'status',
      value: (row) => row.status || '…',
      color: (row) => statusColor(row.status),
      fixed: true,
    },
    { key: 'signed', fixed: true },
    {
      key: 'change',
      header: 'LAST CHANGE',
      value: (row) => `${row.lastChange} ${relativeTime(row.at, now)}`.trim(),
    },
    { key: 'expiresAt', header: 'EXPIRES', value: (row) => relativeTime(row.expiresAt, now), fixed: true },
  ];
}
