import type { RowError, RunEntry, RunHead } from './journal-entries.ts';

/** The state of a row. `reserved`: it has a draft. `existing`: someone else created its envelope, so this run does not. */
export type RowState = 'pending' | 'reserved' | 'done' | 'failed' | 'existing';
const STATES: readonly RowState[] = ['pending', 'reserved', 'done', 'failed', 'existing'];

/** What is known of a row whose envelope someone else created. */
export interface ExistingFacts {
  changed?: readonly string[] | undefined;
  /** The line of the row with the same content. */
  sameAs?: number | undefined;
}

/** The state of a run, read from its journal. It needs a few bytes per row. */
export class RunState {
  readonly head: RunHead;
  finishedAt: number | undefined;
  /** When the run ended early; undefined if it didn't. */
  endedAt: number | undefined;
  /** The run that continues the list of this one, which has ended for it. */
  continuedBy: string | undefined;
  /** The last row that may be created and sent. Later rows wait until the run is resumed (`--first`). */
  lastBegun: number;
  /** Where the last process that worked on the run stopped cleanly; undefined if it was killed. */
  stoppedOn: string | undefined;
  /** Rows whose draft or envelope was not created by this run. */
  readonly #taken = new Set<number>();
  readonly #lines: Uint32Array;
  readonly #states: Uint8Array;
  readonly #ids: (string | undefined)[];
  readonly #statuses: (string | undefined)[];
  readonly #requestIds: (string | undefined)[];
  readonly #errors = new Map<number, RowError>();
  readonly #existing = new Map<number, ExistingFacts>();
  readonly #counts: Record<RowState, number>;

  constructor(head: RunHead) {
    this.head = head;
    this.lastBegun = head.total;
    this.#states = new Uint8Array(head.total + 1);
    this.#lines = new Uint32Array(head.total + 1);
    this.#ids = new Array<string | undefined>(head.total + 1);
    this.#statuses = new Array<string | undefined>(head.total + 1);
    this.#requestIds = new Array<string | undefined>(head.total + 1);
    this.#counts = { pending: head.total, reserved: 0, done: 0, failed: 0, existing: 0 };
  }

  /** Applies a journal entry that was read or just written. */
  apply(entry: RunEntry): void {
    this.stoppedOn = entry.type === 'stopped' && !entry.lost ? entry.machine : undefined;
    switch (entry.type) {
      case 'rows':
        for (const [index, [line, requestId]] of entry.rows.entries()) {
          this.#lines[entry.from + index] = line;
          this.#requestIds[entry.from + index] = requestId;
        }
        break;
      case 'upTo':
        this.lastBegun = entry.row;
        break;
      case 'reserved':
        this.#record(entry.row, 'reserved', entry.id, 'DRAFT');
        if (entry.taken) this.#taken.add(entry.row);
        else this.#taken.delete(entry.row);
        break;
      case 'existing':
        this.#record(entry.row, 'existing', entry.id, entry.status);
        this.#taken.add(entry.row);
        if (entry.changed || entry.sameAs !== undefined)
          this.#existing.set(entry.row, { changed: entry.changed, sameAs: entry.sameAs });
        break;
      case 'done':
        this.#record(entry.row, 'done', entry.id, entry.status);
        this.#taken.delete(entry.row);
        break;
      case 'failed':
        // A refused row may name the envelope of someone else, which has its request ID.
        if (entry.id !== undefined && entry.id !== this.#ids[entry.row]) this.#taken.add(entry.row);
        this.#record(entry.row, 'failed', entry.id ?? this.#ids[entry.row], undefined);
        this.#errors.set(entry.row, entry.error);
        break;
      case 'finished':
        this.finishedAt = entry.at;
        break;
      case 'ended':
        this.endedAt = entry.at;
        this.continuedBy = entry.by;
        break;
      case 'run':
      case 'resumed':
      case 'stopped':
        // The constructor got the head, and only the log needs to know when a run was resumed.
        break;
    }
  }

  of(row: number): RowState {
    return STATES[this.#states[row] ?? 0] ?? 'pending';
  }

  /** Makes a row pending again, in this process only: its draft was canceled. */
  release(row: number): void {
    this.#mark(row, 'pending');
    this.#ids[row] = undefined;
  }

  count(state: RowState): number {
    return this.#counts[state];
  }

  /** Yields the rows in this state, in order. */
  *rows(state: RowState): Generator<number, void, undefined> {
    const code = STATES.indexOf(state);
    for (let row = 1; row <= this.head.total; row++) if (this.#states[row] === code) yield row;
  }

  /** Returns the number of rows in one of these states, up to `lastBegun`. */
  countBegun(...states: RowState[]): number {
    if (this.lastBegun === this.head.total) return states.reduce((sum, state) => sum + this.count(state), 0);
    const codes = new Set(states.map((state) => STATES.indexOf(state)));
    let count = 0;
    for (let row = 1; row <= this.lastBegun; row++) if (codes.has(this.#states[row] ?? 0)) count++;
    return count;
  }

  /** True if the rows that may be sent are done, and others are left. */
  get isPaused(): boolean {
    return this.lastBegun < this.head.total && this.areBegunFinished && this.endedAt === undefined;
  }

  /** Returns the last row if the next `rows` unfinished rows are sent; all rows if undefined. */
  lastOfNext(rows: number | undefined): number {
    let left = rows ?? Number.POSITIVE_INFINITY;
    for (let row = 1; row <= this.head.total; row++) {
      if (this.isFinished(row)) continue;
      if (left === 0) return row - 1;
      left--;
    }
    return this.head.total;
  }

  /** True if no row up to `lastBegun` needs more work. */
  get areBegunFinished(): boolean {
    return this.countBegun('pending', 'reserved') === 0;
  }

  /** Returns the line on which a row begins in its file. */
  lineOf(row: number): number | null {
    return this.#lines[row] || null;
  }

  /** Returns the row that begins on a line of the file. */
  rowAt(line: number): number | undefined {
    const row = this.#lines.indexOf(line);
    return row > 0 ? row : undefined;
  }

  isFinished(row: number): boolean {
    const state = this.of(row);
    return state === 'done' || state === 'failed' || state === 'existing';
  }

  /** The number of rows that need no more work. */
  get finishedCount(): number {
    return this.#counts.done + this.#counts.failed + this.#counts.existing;
  }

  /** Returns the envelopes that this run created or sent itself. The drafts of a run that another one continues are that one's. */
  ownEnvelopes(): Set<string> {
    const own = new Set<string>();
    for (let row = 1; row <= this.head.total; row++) {
      const id = this.#ids[row];
      const isGiven = this.continuedBy !== undefined && this.of(row) === 'reserved';
      if (id !== undefined && !this.#taken.has(row) && !isGiven) own.add(id);
    }
    return own;
  }

  /** Returns true if this run created or sent the envelope of a row. */
  isOwn(row: number): boolean {
    return this.#ids[row] !== undefined && !this.#taken.has(row);
  }

  /** Returns the envelopes of all rows, including those that someone else created. */
  envelopeIds(): Set<string> {
    return new Set(this.#ids.filter((id) => id !== undefined));
  }

  idOf(row: number): string | undefined {
    return this.#ids[row];
  }

  statusOf(row: number): string | undefined {
    return this.#statuses[row];
  }

  errorOf(row: number): RowError | undefined {
    return this.#errors.get(row);
  }

  /** Returns what is known of a row whose envelope someone else created. */
  existingFactsOf(row: number): ExistingFacts {
    return this.#existing.get(row) ?? {};
  }

  /** The number of rows that were skipped because an earlier row has the same content. */
  get repeatedCount(): number {
    return [...this.#existing.values()].filter(({ sameAs }) => sameAs !== undefined).length;
  }

  /** Returns the request ID of a row: that of the file, or the one that stands for its content. */
  requestIdOf(row: number): string | undefined {
    return this.#requestIds[row];
  }

  #mark(row: number, state: RowState): void {
    this.#counts[this.of(row)]--;
    this.#counts[state]++;
    this.#states[row] = STATES.indexOf(state);
  }

  #record(row: number, state: RowState, id: string | undefined, status: string | undefined): void {
    this.#mark(row, state);
    this.#ids[row] = id;
    this.#statuses[row] = status ?? this.#statuses[row];
  }
}
