import type { Entry, RowError, RunHead } from './entries.ts';

/** Where a row stands. `maybe`: it was asked for, and what came of it is not known. */
export type RowState = 'pending' | 'maybe' | 'created' | 'done' | 'failed';
const STATES: readonly RowState[] = ['pending', 'maybe', 'created', 'done', 'failed'];

/** A run as its journal tells it: a few bytes a row. */
export class RunState {
  readonly head: RunHead;
  finishedAt: number | undefined;
  looked = false;
  #started = false;
  readonly #states: Uint8Array;
  readonly #ids: (string | undefined)[];
  readonly #statuses: (string | undefined)[];
  readonly #requestIds = new Map<number, string>();
  readonly #errors = new Map<number, RowError>();
  readonly #counts: Record<RowState, number>;
  #announced: { from: number; to: number; at: number }[] = [];

  constructor(head: RunHead) {
    this.head = head;
    this.#states = new Uint8Array(head.total + 1);
    this.#ids = new Array<string | undefined>(head.total + 1);
    this.#statuses = new Array<string | undefined>(head.total + 1);
    this.#counts = { pending: head.total, maybe: 0, created: 0, done: 0, failed: 0 };
  }

  /** Takes an entry of the journal, read back or just written. */
  apply(entry: Entry): void {
    this.#started = true;
    switch (entry.type) {
      case 'creating':
        this.#announced.push(entry);
        break;
      case 'created':
        this.#settle(entry.row, 'created', entry.id, 'DRAFT', entry.requestId);
        break;
      case 'done':
        this.#settle(entry.row, 'done', entry.id, entry.status, entry.requestId);
        break;
      case 'failed':
        this.#settle(entry.row, 'failed', entry.id ?? this.#ids[entry.row], undefined, entry.requestId);
        this.#errors.set(entry.row, entry.error);
        break;
      case 'stopped':
        this.#forgetAnnounced(entry.maybe.length > 0);
        for (const row of entry.maybe) this.mark(row, 'maybe');
        break;
      case 'looked':
        this.looked = true;
        break;
      case 'finished':
        this.finishedAt = entry.at;
        break;
      default:
        break;
    }
  }

  /** After a journal was read whole: rows that were announced and not settled may exist. */
  replayed(): void {
    for (const { from, to } of this.#announced) {
      for (let row = from; row <= Math.min(to, this.head.total); row++)
        if (this.of(row) === 'pending') this.mark(row, 'maybe');
    }
  }

  of(row: number): RowState {
    return STATES[this.#states[row] ?? 0] ?? 'pending';
  }

  /** Notes what only this process needs to know. */
  mark(row: number, state: RowState): void {
    this.#counts[this.of(row)]--;
    this.#counts[state]++;
    this.#states[row] = STATES.indexOf(state);
  }

  count(state: RowState): number {
    return this.#counts[state];
  }

  /** Rows in this state, in order. */
  *rows(state: RowState): Generator<number, void, undefined> {
    const wanted = STATES.indexOf(state);
    for (let row = 1; row <= this.head.total; row++) if (this.#states[row] === wanted) yield row;
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

  /** The request id of a row: the user's own as far as the journal has it, else the one made of run and row. */
  requestIdOf(row: number): string | undefined {
    const own = this.#requestIds.get(row);
    const hasNone = this.head.ownRequestIds === 0 || this.#ids[row] !== undefined || this.#errors.has(row);
    return own ?? (hasNone ? derivedRequestId(this.head.id, row) : undefined);
  }

  /** True once anything but the head is in the journal. */
  get started(): boolean {
    return this.#started;
  }

  /** The latest time at which rows were announced, and the earliest; ms since the epoch. */
  get announcedBetween(): { first: number; last: number } | undefined {
    const times = this.#announced.map(({ at }) => at);
    if (times.length === 0) return undefined;
    return { first: times.reduce((a, b) => Math.min(a, b)), last: times.reduce((a, b) => Math.max(a, b)) };
  }

  /** Keeps the times alone where rows that may exist were asked for between them. */
  #forgetAnnounced(keepTimes: boolean): void {
    const { first, last } = this.announcedBetween ?? {};
    const times = keepTimes && first !== undefined && last !== undefined ? [first, last] : [];
    this.#announced = times.map((at) => ({ from: 1, to: 0, at }));
  }

  #settle(
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

/** The request id of a row that has none of its own. */
export function derivedRequestId(runId: string, row: number): string {
  return `${runId}-${row}`;
}
