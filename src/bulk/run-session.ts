import type { Client } from '../api/client.ts';
import { Limiter } from '../kernel/async/limiter.ts';
import { EsignError, messageOf, NetworkError, ServiceError, StoppedError } from '../kernel/errors.ts';
import { isOutage, isRateLimited } from '../kernel/request-failures.ts';
import type { RowError } from '../runs/journal-entries.ts';
import type { RowResult } from '../runs/results.ts';
import type { OpenRun } from '../runs/runs.ts';
import { Outage } from './outage.ts';

/** Receives the reports of a run. */
export interface RunObserver {
  /** Called when a row is finished. */
  row(result: RowResult): Promise<void> | void;
  /** Called when the run reads the list or waits, with the reason and the ms that are left if known; without one when it works on rows. */
  waits?(why: string | undefined, msLeft?: number): void;
  /** Shows a message; the run continues. */
  notice(text: string): void;
}

export interface RunOptions {
  client: Client;
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
const STOPPING = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED', 'QUOTA_EXCEEDED']);

/** The work of one process on a run: the state that its parts share. */
export class BulkSession {
  readonly run: OpenRun;
  readonly options: RunOptions;
  readonly #limiter: Limiter;
  readonly outage: Outage;
  /** The reason why the run stops early. */
  stopReason: Error | undefined;
  #halted = false;
  #closed = false;
  /** The first rows that this process works on. */
  readonly #firstRows: number[] = [];
  readonly #abort = new AbortController();
  #grace: NodeJS.Timeout | undefined;

  constructor(run: OpenRun, options: RunOptions) {
    this.run = run;
    this.options = options;
    this.#limiter = new Limiter(options.concurrency);
    const { client } = options;
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

  /**
   * Makes a request when its turn comes. `begins`: it begins a row, which is not done once the run is to stop. `reads`: it only reads, so
   * it is repeated after an outage. One that never reached the service is always repeated. @throws Stopped if no more requests may be made.
   */
  async request<T>(
    ask: (signal: AbortSignal) => Promise<T>,
    { begins = false, reads = false }: { begins?: boolean; reads?: boolean } = {},
  ): Promise<T> {
    for (;;) {
      try {
        return await this.#requestOnce(ask, begins);
      } catch (error) {
        const isUnsent = error instanceof NetworkError && !error.maybeReceived;
        if (!isUnsent && !(reads && isOutage(error))) throw error;
        // A lost response may be chance, but a read is only repeated once the service responds.
        if (!isUnsent) await this.outage.confirm(error);
      }
    }
  }

  async #requestOnce<T>(ask: (signal: AbortSignal) => Promise<T>, begins: boolean): Promise<T> {
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
    if (STOPPING.has(error.code) || error.status === 401 || isRateLimited(error)) this.halt(error);
    else return error;
    throw new Stopped();
  }

  /** Records that the work on a row begins. */
  begin(row: number): void {
    if (this.#firstRows.length < FAILURES_ALIKE) this.#firstRows.push(row);
  }

  /** Stops if the first rows have all failed with one code: the others would, too. */
  stopIfFirstFail(): void {
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

  /** Returns an error as it is stored, without secrets. */
  factsOf(error: Error): RowError {
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
