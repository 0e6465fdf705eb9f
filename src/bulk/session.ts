import type { Client } from '../api/client.ts';
import { LISTED_AFTER_MS } from '../api/recent-pages.ts';
import type { RequestIds } from '../envelopes/request-ids/request-ids.ts';
import { counted } from '../kernel/duration.ts';
import {
  EsignError,
  isOutage,
  isRateLimited,
  messageOf,
  ServiceError,
  StoppedError,
} from '../kernel/errors.ts';
import type { RowError } from './entries.ts';
import { Outage } from './outage.ts';
import { BulkPace, SLOW_MS } from './pace.ts';
import { type RowResult, resultOf, secondResult } from './results.ts';
import type { BulkRow } from './rows/row.ts';
import type { SecondEnvelope } from './run-state.ts';
import type { OpenRun } from './runs.ts';

/** What a run reports while it works. */
export interface RunObserver {
  /** A row is settled. */
  row(result: RowResult): Promise<void> | void;
  /** Something a person should know; the run continues. `waitMs`: how long it waits, where it does. */
  says(text: string, options?: { waitMs: number }): void;
}

/** What is reported of a row that failed. */
export type FailedRow = Pick<BulkRow, 'row' | 'requestId'> & { envelope?: BulkRow['envelope'] };

export interface RunOptions {
  client: Client;
  /** For rows with a request ID of their own. */
  ids: RequestIds;
  /** The most requests at the same time. */
  concurrency: number;
  maxRequests?: number | undefined;
  /** For the rows that name a webhook. */
  webhookSecret?: string | undefined;
  /** Stops after this many failed rows. */
  stopOnError?: number | undefined;
  /** How long an outage is waited out, in ms. */
  patienceMs: number;
  signal: AbortSignal;
  /** Takes secrets out of what is written down. */
  redact: (text: string) => string;
  observer: RunObserver;
}

/** Thrown to leave off when the run is to stop; never seen outside. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** How long requests in progress may take once the run is to stop, in ms. */
const GRACE_MS = 3_000;
/** These stop the run, whatever the row. */
const STOPPING = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED']);

/** One process's work on a run: what its parts share. */
export class BulkSession {
  readonly run: OpenRun;
  readonly options: RunOptions;
  readonly pace: BulkPace;
  readonly outage: Outage;
  /** Why the run stops before its end. */
  why: Error | undefined;
  /** Set when a second envelope of a row may exist. */
  doubtful: boolean;
  /** The list shows new envelopes late. */
  lags = false;
  /** Request IDs of which it is known what a request without a reply created, or that nobody is emailed by it. */
  readonly resolvedIds = new Set<string>();
  /** By this machine's clock, in ms. */
  readonly startedAt: number;
  /** Until when an envelope whose reply was lost may turn up; ms, by this machine's clock. */
  mayTurnUpUntil = 0;
  #lostAt: number;
  #halted = false;
  #closed = false;
  #failures = 0;
  #spent = 0;
  #resetAt: number | undefined;
  readonly #abort = new AbortController();
  #grace: NodeJS.Timeout | undefined;

  constructor(run: OpenRun, options: RunOptions) {
    this.run = run;
    this.options = options;
    this.doubtful = run.resumed;
    this.pace = new BulkPace(options.concurrency);
    const { client } = options;
    this.startedAt = client.clock.now();
    this.#lostAt = this.startedAt;
    if (run.state.mayTurnUp) this.mayTurnUpUntil = this.startedAt + LISTED_AFTER_MS;
    this.outage = new Outage({
      clock: client.clock,
      signal: this.signal,
      patienceMs: options.patienceMs,
      says: (text) => options.observer.says(text),
      probe: async () => {
        await client.templates.list({ pageSize: 1, signal: this.signal }).next();
      },
    });
  }

  /** Aborts requests in progress, some time after the run was stopped. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** No further row is begun. */
  isClosed(): boolean {
    return this.#closed;
  }

  /** Begins no further row; those begun are brought to their end. */
  close(why: Error): void {
    this.why ??= why;
    this.#closed = true;
  }

  /** Makes no further request. */
  halt(why: Error | undefined): void {
    if (this.#halted) return;
    this.#halted = true;
    this.#closed = true;
    this.why ??= why;
    this.#grace = setTimeout(() => this.#abort.abort(new Stopped()), GRACE_MS);
  }

  /** After the last piece of work. */
  end(): void {
    clearTimeout(this.#grace);
  }

  /** What a piece of work threw. */
  caught(error: unknown): void {
    if (error instanceof Stopped) return;
    this.halt(error instanceof Error ? error : new Error(messageOf(error)));
  }

  /** Whether --max-requests allows this many more requests; they count as made. */
  spend(requests: number): boolean {
    const { maxRequests } = this.options;
    if (maxRequests !== undefined && this.#spent + requests > maxRequests) {
      this.close(
        new StoppedError('MAX_REQUESTS', `--max-requests allows only ${counted(maxRequests, 'request')}.`),
      );
      return false;
    }
    this.#spent += requests;
    return true;
  }

  /** Counts requests that can't be done without. */
  count(requests: number): void {
    this.#spent += requests;
  }

  /** Makes a request in its turn. @throws Stopped when none is to be made any more. */
  async request<T>(urgent: boolean, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.outage.over().catch((error: unknown) => {
      this.caught(error);
      throw new Stopped();
    });
    return this.pace.inTurn(urgent, async () => {
      if (this.#halted) throw new Stopped();
      const { clock } = this.options.client;
      const started = clock.now();
      try {
        const value = await ask(this.signal);
        const ms = clock.now() - started;
        if (!this.#waitedForWindow(ms)) this.pace.answered(ms);
        this.outage.succeeded();
        return value;
      } catch (error) {
        if (this.signal.aborted) throw new Stopped();
        if (isOutage(error)) {
          this.pace.failed();
          this.outage.failed(error);
        }
        throw error;
      }
    });
  }

  /** True for a request that took long since it waited for a new rate window: that says nothing of the service. */
  #waitedForWindow(ms: number): boolean {
    if (ms < SLOW_MS) return false;
    const resetAt = this.options.client.window?.reading()?.resetAt;
    const isNew = resetAt !== this.#resetAt;
    this.#resetAt = resetAt;
    return isNew;
  }

  /** Returns the error if it concerns one row only. @throws Stopped when it concerns the whole run, which it stops. */
  ofRowAlone(error: unknown): Error {
    if (!(error instanceof ServiceError)) throw error;
    // What was created is still sent: the quota counts creations.
    if (error.code === 'QUOTA_EXCEEDED') this.close(error);
    else if (STOPPING.has(error.code) || error.status === 401 || isRateLimited(error)) this.halt(error);
    else return error;
    throw new Stopped();
  }

  /** The reply to a create was lost. */
  lost(): void {
    this.doubtful = true;
    this.#lostAt = this.options.client.clock.now();
  }

  /** Rows that were requested once and not found are created again. */
  createsAgain(): void {
    this.doubtful = true;
    const hasLost = this.#lostAt > this.startedAt;
    if (hasLost || this.lags)
      this.mayTurnUpUntil = Math.max(this.mayTurnUpUntil, this.#lostAt + LISTED_AFTER_MS);
  }

  /** Reads again after an outage; reading twice does no harm. */
  async persistently<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (!isOutage(error) || this.signal.aborted) throw error;
        this.outage.failed(error);
        await this.outage.over();
      }
    }
  }

  async created(
    row: number,
    id: string,
    requestId: string | undefined,
    { adopted = false } = {},
  ): Promise<void> {
    await this.run.note({ type: 'created', row, id, ...own(requestId), ...(adopted ? { adopted } : {}) });
  }

  async existing(row: number, id: string, status: string, requestId: string | undefined): Promise<void> {
    await this.run.note({ type: 'existing', row, id, status, ...own(requestId) });
    await this.options.observer.row(resultOf(this.run.state, row, requestId));
  }

  /** A row has another envelope that was not canceled: it is named, and the run does not end well. */
  async second(envelope: SecondEnvelope): Promise<void> {
    await this.run.note({ type: 'second', ...envelope });
    await this.options.observer.row(secondResult(this.run.state, envelope));
  }

  async done(row: number, id: string, status: string, requestId: string | undefined): Promise<void> {
    await this.run.note({ type: 'done', row, id, status, ...own(requestId) });
    await this.options.observer.row(resultOf(this.run.state, row, requestId));
  }

  async failed({ row, requestId, envelope }: FailedRow, error: Error): Promise<void> {
    await this.run.note({ type: 'failed', row, error: this.#factsOf(error), ...own(requestId) });
    await this.options.observer.row(resultOf(this.run.state, row, requestId, envelope?.signers));
    const { stopOnError } = this.options;
    if (++this.#failures === stopOnError)
      this.close(new StoppedError('STOP_ON_ERROR', `${counted(stopOnError, 'row')} failed.`));
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

function own(requestId: string | undefined): { requestId?: string } {
  return requestId === undefined ? {} : { requestId };
}
