import type { RowError, RunEntry, RunHead } from './entries.ts';

/**
 * The state of a row. `maybe`: this process made a request, and its outcome is unknown; the next process reads `pending`, and
 * searches for all of these. `existing`: an earlier run created its envelope, so this one does not.
 */
export type RowState = 'pending' | 'maybe' | 'created' | 'done' | 'failed' | 'existing';
const STATES: readonly RowState[] = ['pending', 'maybe', 'created', 'done', 'failed', 'existing'];

/** The state of a run, read from its journal. It needs a few bytes per row. */
export class RunState {
  readonly head: RunHead;
  finishedAt: number | undefined;
  /** When the user ended the run; undefined for a run that wasn't ended. */
  endedAt: number | undefined;
  /** The last row that may be created and sent. Later rows wait until the run is resumed (`--first`). */
  lastBegun: number;
  /** Rows whose draft was not created by this run. */
  readonly #adopted = new Set<number>();
  /** Rows whose draft may be a duplicate, because it was created before the list had been searched. */
  readonly #unchecked = new Set<number>();
  readonly #lines: Uint32Array;
  readonly #states: Uint8Array;
  readonly #ids: (string | undefined)[];
  readonly #statuses: (string | undefined)[];
  readonly #requestIds = new Map<number, string>();
  readonly #errors = new Map<number, RowError>();
  readonly #counts: Record<RowState, number>;

  constructor(head: RunHead) {
    this.head = head;
    this.lastBegun = head.total;
    this.#states = new Uint8Array(head.total + 1);
    this.#lines = new Uint32Array(head.total + 1);
    this.#ids = new Array<string | undefined>(head.total + 1);
    this.#statuses = new Array<string | undefined>(head.total + 1);
    this.#counts = { pending: head.total, maybe: 0, created: 0, done: 0, failed: 0, existing: 0 };
  }

  /** Applies a journal entry that was read or just written. */
  apply(entry: RunEntry): void {
    switch (entry.type) {
      case 'rows':
        for (const [index, [line]] of entry.rows.entries()) this.#lines[entry.from + index] = line;
        break;
      case 'upTo':
        this.lastBegun = entry.row;
        break;
      case 'created':
        this.#record(entry.row, 'created', entry.id, 'DRAFT', entry.requestId);
        if (entry.adopted) this.#adopted.add(entry.row);
        else this.#adopted.delete(entry.row);
        if (entry.unchecked) this.#unchecked.add(entry.row);
        else this.#unchecked.delete(entry.row);
        break;
      case 'existing':
        this.#record(entry.row, 'existing', entry.id, entry.status, entry.requestId);
        this.#adopted.add(entry.row);
        break;
      case 'done':
        this.#record(entry.row, 'done', entry.id, entry.status, entry.requestId);
        break;
      case 'failed':
        this.#record(entry.row, 'failed', this.#ids[entry.row], undefined, entry.requestId);
        this.#errors.set(entry.row, entry.error);
        break;
      case 'finished':
        this.finishedAt = entry.at;
        break;
      case 'ended':
        this.endedAt = entry.at;
        break;
      case 'run':
      case 'resumed':
        // The constructor got the head, and only the log needs to know when a run was resumed.
        break;
    }
  }

  of(row: number): RowState {
    return STATES[this.#states[row] ?? 0] ?? 'pending';
  }

  /** Sets the state of a row in this process only, not in the journal. */
  mark(row: number, state: RowState): void {
    this.#counts[this.of(row)]--;
    this.#counts[state]++;
    this.#states[row] = STATES.indexOf(state);
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
    return this.countBegun('pending', 'maybe', 'created') === 0;
  }

  /** Returns the line on which a row begins in its file. */
  lineOf(row: number): number | null {
    return this.#lines[row] || null;
  }

  /** Returns true for a row whose draft or envelope was not created by this run. */
  isAdopted(row: number): boolean {
    return this.#adopted.has(row);
  }

  /** Returns true for a row whose draft may be a duplicate. */
  isUnchecked(row: number): boolean {
    return this.#unchecked.has(row);
  }

  isFinished(row: number): boolean {
    const state = this.of(row);
    return state === 'done' || state === 'failed' || state === 'existing';
  }

  /** The number of rows that need no more work. */
  get finishedCount(): number {
    return this.#counts.done + this.#counts.failed + this.#counts.existing;
  }

  /** Returns the envelopes that this run created itself, and their rows. */
  ownEnvelopes(): Map<string, number> {
    const own = new Map<string, number>();
    for (let row = 1; row <= this.head.total; row++) {
      const id = this.#ids[row];
      if (id !== undefined && !this.#adopted.has(row)) own.set(id, row);
    }
    return own;
  }

  /** Returns the envelopes of all rows, including those that an earlier run created. */
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

  /**
   * Returns the request ID of a row: the user's own if the journal has it, or else the one derived from run and row. Returns
   * undefined if the row's own ID may not be in the journal yet.
   */
  requestIdOf(row: number): string | undefined {
    const own = this.#requestIds.get(row);
    const hasNone = this.head.ownRequestIds === 0 || this.#ids[row] !== undefined || this.#errors.has(row);
    return own ?? (hasNone ? derivedRequestId(this.head.id, row) : undefined);
  }

  #record(
    row: number,
    state: RowState,
    id: string | undefined,
    status: string | undefined,
    requestId?: string,
  ): void {
    this.mark(row, state);
    this.#ids[row] = id;
    this.#statuses[row] = status ?? this.#statuses[row];
    if (requestId !== undefined) this.#requestIds.set(row, requestId);
  }
}

/** Returns the request ID of a row that doesn't have its own. */
export function derivedRequestId(runId: string, row: number): string {
  return `${runId}-${row}`;
}
