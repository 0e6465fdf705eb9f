import type { Envelope } from '../../../api/schemas.ts';
import type { StatusChange } from '../../../envelopes/watch/watch.ts';
import { counted, grouped } from '../../../kernel/duration.ts';
import { ENVELOPE_STATUSES, isInFlight } from '../../../kernel/vocabulary.ts';
import { statusColor } from '../../../output/status.ts';
import { renderTable, type TableColumn } from '../../../output/table.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeLine } from '../../../output/text.ts';
import { relativeTime } from '../../../output/time.ts';
import { deedOf, lastDeed, progressOf } from './view.ts';

interface Row {
  id: string;
  status: string;
  envelope: Envelope | undefined;
  /** The last change and its time. */
  deed: string;
  at: string | undefined;
  /** The number of the last change; 0 before the first. */
  moved: number;
}

const ORDER: readonly string[] = ENVELOPE_STATUSES;
/** The number of ended envelopes to keep while new ones are added. */
const MAX_ENDED = 500;
/** The lines for the title, the heading, and the footer. */
const AROUND = 3;
/** Terminals with at least this many rows get blank lines. */
const ROOMY = 10;
/** On narrower terminals, IDs are truncated to leave room for the status. */
const NARROW = 45;

/** The live table: a row for each envelope in the given order. If not all fit, the last changed ones come first. */
export class WatchTable {
  readonly #rows = new Map<string, Row>();
  readonly #ended = new Set<string>();
  readonly #title: string;
  #moves = 0;

  constructor(ids: readonly string[], title: string) {
    this.#title = title;
    for (const id of ids)
      this.#rows.set(id, { id, status: '', envelope: undefined, deed: '', at: undefined, moved: 0 });
  }

  take(change: StatusChange, isOver: boolean): void {
    const { envelopeId: id, envelope, from, to } = change;
    const first = from === null ? lastDeed(envelope) : undefined;
    const deed = first?.text ?? deedOf(change) ?? `was ${from ?? ''}`;
    const moved = first ? 0 : ++this.#moves;
    this.#rows.set(id, { id, status: to, envelope, deed, at: first ? first.at : change.at, moved });
    if (isOver) this.#end(id);
  }

  gone(id: string, at: string): void {
    const row = this.#rows.get(id);
    const deed = 'not found';
    this.#rows.set(id, { id, envelope: row?.envelope, status: 'GONE', deed, at, moved: ++this.#moves });
    this.#end(id);
  }

  /** Renders the rows that fit, with a title and a footer. */
  frame(terminal: Terminal, lines: number, now: number, foot: string): string[] {
    const blank = lines >= ROOMY ? [''] : [];
    const room = Math.max(1, lines - AROUND - 2 * blank.length);
    const title = `${terminal.style('bold', this.#title)}  ${terminal.style('dim', this.#counts())}`;
    return [title, ...blank, ...this.#table(terminal, room, now), ...blank, foot];
  }

  /** Renders the final table. */
  final(terminal: Terminal, lines: number, now: number): string {
    if (this.#rows.size === 0) return '';
    return `${this.#table(terminal, Math.max(5, lines - AROUND), now).join('\n')}\n`;
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
    const table = renderTable(shown, columnsAt(now, terminal.columns >= NARROW), terminal)
      .trimEnd()
      .split('\n');
    const more = this.#rows.size - shown.length;
    return isWhole ? table : [...table, terminal.style('dim', `… and ${counted(more, 'other')}`)];
  }

  #latest(count: number): Row[] {
    return [...this.#rows.values()].toSorted((a, b) => b.moved - a.moved).slice(0, count);
  }
}

function columnsAt(now: number, wholeId: boolean): TableColumn<Row>[] {
  return [
    { key: 'id', header: 'ID', value: (row) => row.id, fixed: wholeId },
    {
      key: 'status',
      header: 'STATUS',
      value: (row) => row.status || '…',
      color: (row) => statusColor(row.status),
      fixed: true,
    },
    { key: 'signed', header: 'SIGNED', value: signed, fixed: true },
    { key: 'change', header: 'LAST CHANGE', value: (row) => lastChange(row, now) },
    {
      key: 'expiresAt',
      header: 'EXPIRES',
      value: (row) => (isMoving(row.status) ? relativeTime(row.envelope?.expiresAt, now) : ''),
      fixed: true,
    },
  ];
}

function signed({ envelope }: Row): string {
  const { total, signed: done } = progressOf(envelope ?? { id: '' });
  return total === 0 ? '' : `${done}/${total}`;
}

function lastChange({ deed, at }: Row, now: number): string {
  const when = relativeTime(at, now);
  return when === '' ? deed : `${deed} ${when}`.trim();
}

function isMoving(status: string): boolean {
  return isInFlight(status) || status === 'DRAFT';
}

function words(status: string): string {
  return status.toLowerCase().replaceAll('_', ' ');
}
