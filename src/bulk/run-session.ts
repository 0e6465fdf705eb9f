import type { Client } from '../api/client.ts';
import { Limiter } from '../kernel/async/limiter.ts';
import { EsignError, messageOf, ServiceError, StoppedError } from '../kernel/errors.ts';
import { isOutage, isRateLimited } from '../kernel/request-failures.ts';
import type { LoggedWrite } from '../log/logged-write.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import type { RowError } from './entries.ts';
import { Outage } from './outage.ts';
import { type RowResult, resultOf, type SecondEnvelope, secondResult } from './results.ts';
import type { BulkRow } from './rows/row.ts';
import type { OpenRun } from './runs.ts';

/** Receives the reports of a run. */
export interface RunObserver {
  /** Called when a row is finished. */
  row(result: RowResult): Promise<void> | void;
  /** Called when the run begins to read the list, with the reason, and without one when it works on rows again. */
  searches?(why: string | undefined): void;
  /** Shows a message; the run continues. */
  notice(text: string): void;
}

/** The part of a row that is reported when it fails. */
export type FailedRow = Pick<BulkRow, 'row' | 'requestId'> & { envelope?: BulkRow['envelope'] };

export interface RunOptions {
  client: Client;
  /** The log of writes, which knows the request IDs that were used on this machine. */
  memory: WriteMemory;
  /** The maximum number of concurrent requests. */
  concurrency: number;
  /** The secret for rows with a webhook URL. */
  webhookSecret?: string | undefined;
  signal: AbortSignal;
  /** Removes secrets from text that is stored. */
  redact: (text: string) => string;
  observer: RunObserver;
}

/** Thrown to end work in progress when the run is to stop. Never leaves processRun. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** A run stops if its first rows, this many, all fail with the same code. */
const FAILURES_ALIKE = 20;
/** How long requests in progress may continue after a stop was requested, in ms. */
const GRACE_MS = 3_000;
/** Error codes that stop the run, whichever row they occur on. */
const STOPPING = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED']);

/** The work of one process on a run: the state that its parts share. */
export class BulkSession {
  readonly run: OpenRun;
  readonly options: RunOptions;
  readonly #limiter: Limiter;
  readonly outage: Outage;
  /** The reason why the run stops early. */
  stopReason: Error | undefined;
  /** True when a row may have a second envelope. */
  mayHaveDuplicates: boolean;
  /** True until the list has been searched for what was created before. */
  isSearching = false;
  /**
   * The IDs of writes in the log without a response, which a search decides before their row is created again. For those of others,
   * with the time of the attempt that was searched for: they may attempt it again.
   */
  readonly #searched = new Map<string, string | undefined>();
  /** By this machine's clock, in ms. */
  readonly startedAt: number;
  /** When a response was last lost. */
  lostAt: number;
  #halted = false;
  #closed = false;
  /** The first rows that this process works on. */
  readonly #firstRows: number[] = [];
  readonly #abort = new AbortController();
  #grace: NodeJS.Timeout | undefined;

  constructor(run: OpenRun, options: RunOptions) {
    this.run = run;
    this.options = options;
    this.mayHaveDuplicates = run.resumed;
    this.#limiter = new Limiter(options.concurrency);
    const { client } = options;
    this.startedAt = client.clock.now();
    this.lostAt = this.startedAt;
    this.outage = new Outage({
      clock: client.clock,
      signal: this.signal,
      notice: (text) => options.observer.notice(text),
      probe: async () => {
        await client.templates.list({ pageSize: 1, signal: this.signal }).next();
      },
    });
  }

  /** Aborts requests in progress after a grace period once the run was stopped. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Returns true when no more rows are started. */
  isClosed(): boolean {
    return this.#closed;
  }

  /** Starts no more rows. Rows in progress are finished. */
  close(stopReason: Error): void {
    this.stopReason ??= stopReason;
    this.#closed = true;
  }

  /** Makes no more requests. */
  halt(stopReason: Error | undefined): void {
    if (this.#halted) return;
    this.#halted = true;
    this.#closed = true;
    this.stopReason ??= stopReason;
    this.#grace = setTimeout(() => this.#abort.abort(new Stopped()), GRACE_MS);
  }

  /** Cleans up after all work has ended. */
  end(): void {
    clearTimeout(this.#grace);
  }

  /** Stops the run for an error that a row's work threw. */
  handleError(error: unknown): void {
    if (error instanceof Stopped) return;
    this.halt(error instanceof Error ? error : new Error(messageOf(error)));
  }

  /** Makes a request when its turn comes. `begins`: it begins a row, which is not done once the run is to stop. @throws Stopped if no more requests may be made. */
  async request<T>(ask: (signal: AbortSignal) => Promise<T>, { begins = false } = {}): Promise<T> {
    await this.outage.waitUntilOver().catch((error: unknown) => {
      this.handleError(error);
      throw new Stopped();
    });
    return this.#limiter.run(async () => {
      if (this.#halted || (begins && this.#closed)) throw new Stopped();
      try {
        const value = await ask(this.signal);
        this.outage.succeeded();
        return value;
      } catch (error) {
        if (this.signal.aborted) throw new Stopped();
        if (isOutage(error)) this.outage.failed(error);
        throw error;
      }
    });
  }

  /**
   * Returns the error if it concerns one row only. Otherwise, stops the run. @throws Stopped when the error concerns the whole
   * run.
   */
  requireRowError(error: unknown): Error {
    if (!(error instanceof ServiceError)) throw error;
    // Drafts that exist are still sent, because the quota counts creations.
    if (error.code === 'QUOTA_EXCEEDED') this.close(error);
    else if (STOPPING.has(error.code) || error.status === 401 || isRateLimited(error)) this.halt(error);
    else return error;
    throw new Stopped();
  }

  /** Records that the list shows the results of these writes. */
  markSearched(writes: readonly LoggedWrite[]): void {
    for (const { intent } of writes) this.#searched.set(intent.id, intent.at);
  }

  wasSearched({ intent }: LoggedWrite): boolean {
    return this.#searched.has(intent.id) && (this.#searched.get(intent.id) ?? intent.at) === intent.at;
  }

  /** Records that the response to a create was lost. `writeId`: its entry in the log, if it has one. */
  recordLostResponse(writeId: string | undefined): void {
    if (writeId !== undefined) this.#searched.set(writeId, undefined);
    this.lostAt = this.options.client.clock.now();
  }

  /** Repeats a read after an outage. Reading twice is harmless. */
  async retryAfterOutage<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (!isOutage(error) || this.signal.aborted) throw error;
        this.outage.failed(error);
        await this.outage.waitUntilOver();
      }
    }
  }

  async created(
    row: number,
    id: string,
    requestId: string | undefined,
    facts: { adopted?: true | undefined; unchecked?: true | undefined },
  ): Promise<void> {
    await this.run.note({ type: 'created', row, id, requestId, ...facts });
  }

  async existing(row: number, id: string, status: string, requestId: string | undefined): Promise<void> {
    await this.run.note({ type: 'existing', row, id, status, requestId });
    await this.options.observer.row(resultOf(this.run.state, row, requestId));
  }

  /** Reports a second envelope that was not canceled. The run then ends with an error. */
  async duplicate(envelope: SecondEnvelope): Promise<void> {
    await this.options.observer.row(secondResult(this.run.state, envelope));
  }

  async done(row: number, id: string, status: string, requestId: string | undefined): Promise<void> {
    await this.run.note({ type: 'done', row, id, status, requestId });
    await this.options.observer.row(resultOf(this.run.state, row, requestId));
  }

  async failed({ row, requestId, envelope }: FailedRow, error: Error): Promise<void> {
    await this.run.note({ type: 'failed', row, error: this.#factsOf(error), requestId });
    await this.options.observer.row(resultOf(this.run.state, row, requestId, envelope?.signers));
    this.#stopIfFirstFail();
  }

  /** Records that the work on a row begins. */
  begin(row: number): void {
    if (this.#firstRows.length < FAILURES_ALIKE) this.#firstRows.push(row);
  }

  /** Stops if the first rows have all failed with one code: the others would, too. */
  #stopIfFirstFail(): void {
    if (this.#firstRows.length < FAILURES_ALIKE) return;
    const codes = new Set(this.#firstRows.map((row) => this.run.state.errorOf(row)?.code));
    const [code] = codes;
    if (codes.size > 1 || code === undefined) return;
    this.close(
      new StoppedError('ALL_ROWS_FAIL', `The first ${FAILURES_ALIKE} rows all failed with ${code}.`, {
        hint: 'If the other rows would fail as well, end the run and correct the file.',
      }),
    );
  }

  #factsOf(error: Error): RowError {
    const { redact } = this.options;
    const service = error instanceof ServiceError ? error : undefined;
    const details = Object.entries(service?.details ?? {}).map(([field, texts]): [string, string[]] => [
      field,
      texts.map(redact),
    ]);
    return {
      code: error instanceof EsignError ? error.code : 'UNEXPECTED',
      message: redact(error.message),
      status: service?.status ?? null,
      details: service?.details === undefined ? null : Object.fromEntries(details),
    };
  }
}
