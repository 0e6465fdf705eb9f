import type { Envelope } from '../../../api/schemas.ts';
import { counted, grouped } from '../../../kernel/duration.ts';
import { ENVELOPE_STATUSES, isInFlight } from '../../../kernel/vocabulary.ts';
import { statusColor } from '../../../output/status.ts';
import { renderTable, type TableColumn } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import { relativeTime } from '../../../output/time.ts';
import type { StatusChange } from '../../watch/watch-envelopes.ts';
import { lastAction, progressOf, signerAction } from './watch-lines.ts';

interface Row {
  id: string;
  status: string;
  envelope: Envelope | undefined;
  /** The last change and its time. */
  lastChange: string;
  at: string | undefined;
  /** The number of the last change; 0 before the first. */
  changeNumber: number;
}

const ORDER: readonly string[] = ENVELOPE_STATUSES;
/** The number of ended envelopes to keep while new ones are added. */
const MAX_ENDED = 500;
/** The lines for the title, the heading, and the footer. */
const FRAME_LINES = 3;
/** Terminals with at least this many rows get blank lines. */
const BLANK_LINES_FROM_ROWS = 10;
/** On narrower terminals, IDs are truncated to leave room for the status. */
const WHOLE_ID_COLUMNS = 45;

/** The live table: a row for each envelope in the given order. If not all fit, the last changed ones come first. */
export class WatchTable {
  readonly #rows = new Map<string, Row>();
  readonly #ended = new Set<string>();
  readonly #title: string;
  #changes = 0;

  constructor(ids: readonly string[], title: string) {
    this.#title = title;
    const unknown = { status: '', envelope: undefined, lastChange: '', at: undefined, changeNumber: 0 };
    for (const id of ids) this.#rows.set(id, { id, ...unknown });
  }

  take(change: StatusChange, isOver: boolean): void {
    const { envelopeId: id, envelope, from, to } = change;
    const first = from === null ? lastAction(envelope) : undefined;
    const lastChange = first?.text ?? signerAction(change) ?? `was ${from ?? ''}`;
    const { at, changeNumber } = first
      ? { at: first.at, changeNumber: 0 }
      : { at: change.at, changeNumber: ++this.#changes };
    this.#rows.set(id, { id, status: to, envelope, lastChange, at, changeNumber });
    if (isOver) this.#end(id);
  }

  gone(id: string, at: string): void {
    const envelope = this.#rows.get(id)?.envelope;
    const changeNumber = ++this.#changes;
    this.#rows.set(id, { id, envelope, status: 'GONE', lastChange: 'not found', at, changeNumber });
    this.#end(id);
  }

  /** Renders the rows that fit, with a title and a footer. */
  frame(terminal: Terminal, lines: number, now: number, foot: string): string[] {
    const blank = lines >= BLANK_LINES_FROM_ROWS ? [''] : [];
    const room = Math.max(1, lines - FRAME_LINES - 2 * blank.length);
    const title = `${terminal.style('bold', this.#title)}  ${terminal.style('dim', this.#counts())}`;
    return [title, ...blank, ...this.#table(terminal, room, now), ...blank, foot];
  }

  final(terminal: Terminal, lines: number, now: number): string {
    if (this.#rows.size === 0) return '';
    return `${this.#table(terminal, Math.max(5, lines - FRAME_LINES), now).join('\n')}\n`;
  }

  #end(id: string): void {
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size <= MAX_ENDED || oldest === undefined || this.#rows.size <= 2 * MAX_ENDED) return;
    this.#ended.delete(oldest);
    this.#rows.delete(oldest);
  }

  #counts(): string {
    const counts = new Map<string, number>();
    for (const { status } of this.#rows.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
    counts.delete('');
    const place = (status: string) => `${ORDER.indexOf(status)}${status}`;
    return [...counts]
      .sort(([a], [b]) => (place(a) < place(b) ? -1 : 1))
      .map(([status, count]) => `${grouped(count)} ${safeLine(words(status))}`)
      .join(', ');
  }

  #table(terminal: Terminal, room: number, now: number): string[] {
    if (this.#rows.size === 0) return [terminal.style('dim', 'No open envelopes.')];
    const isWhole = this.#rows.size <= room;
    const shown = isWhole ? [...this.#rows.values()] : this.#latest(Math.max(1, room - 1));
    const table = renderTable(shown, columnsAt(now, terminal.columns >= WHOLE_ID_COLUMNS), terminal)
      .trimEnd()
      .split('\n');
    const more = this.#rows.size - shown.length;
    return isWhole ? table : [...table, terminal.style('dim', `… and ${counted(more, 'other')}`)];
  }

  #latest(count: number): Row[] {
    return [...this.#rows.values()].toSorted((a, b) => b.changeNumber - a.changeNumber).slice(0, count);
  }
}

function columnsAt(now: number, wholeId: boolean): TableColumn<Row>[] {
  return [
    { key: 'id', value: (row) => row.id, fixed: wholeId },
    {
      key: 'status',
      value: (row) => row.status || '…',
      color: (row) => statusColor(row.status),
      fixed: true,
    },
    { key: 'signed', value: signed, fixed: true },
    { key: 'change', header: 'LAST CHANGE', value: (row) => lastChangeText(row, now) },
    {
      key: 'expiresAt',
      header: 'EXPIRES',
      value: (row) => (isOpen(row.status) ? relativeTime(row.envelope?.expiresAt, now) : ''),
      fixed: true,
    },
  ];
}

function signed({ envelope }: Row): string {
  const { total, signed: done } = progressOf(envelope ?? { id: '' });
  return total === 0 ? '' : `${done}/${total}`;
}

function lastChangeText({ lastChange, at }: Row, now: number): string {
  const when = relativeTime(at, now);
  return when === '' ? lastChange : `${lastChange} ${when}`.trim();
}

function isOpen(status: string): boolean {
  return isInFlight(status) || status === 'DRAFT';
}

function words(status: string): string {
  return status.toLowerCase().replaceAll('_', ' ');
}
