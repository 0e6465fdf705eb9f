import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import { requestIdOf } from '../catalog/markers.ts';
import { StoppedError } from '../kernel/errors.ts';
import { ROW_KEY, RUN_KEY } from '../kernel/vocabulary.ts';
import { createBody } from '../once/create-body.ts';
import type { PrecedenceFacts } from '../once/precedence.ts';
import type { OpenRequest, RequestHost, RequestResult } from '../once/request-host.ts';
import { isForRequest } from '../once/request-identity.ts';
import { rowResultOf, secondResult } from '../runs/results.ts';
import type { RunRow } from '../runs/run-row.ts';
import type { BulkSession } from './run-session.ts';

/** Rows in progress for each concurrent request. The others are waiting for the disk. */
const ROWS_PER_REQUEST = 4;

/** The rows of a run up to `lastBegun`, as requests for signatures. Their numbers are those of the rows. */
export class RunHost implements RequestHost {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly sends: boolean;
  readonly leavesDrafts = false;
  readonly parallel: number;
  readonly run: string;
  /** True once the response to a create was lost. */
  hasLostResponse = false;
  readonly #session: BulkSession;
  readonly #rowsById = new Map<string, number>();
  readonly #drafts = new Map<string, number>();
  /** True once only the records on this machine decide. */
  #isAlone = false;

  constructor(session: BulkSession) {
    const { run, options } = session;
    this.#session = session;
    this.client = options.client;
    this.signal = session.signal;
    this.sends = run.state.head.mode !== 'draft';
    this.parallel = options.concurrency * ROWS_PER_REQUEST;
    this.run = run.state.head.id;
    const { state } = run;
    for (let row = 1; row <= state.lastBegun; row++) {
      const id = state.requestIdOf(row)?.normalize('NFC');
      // A row with the same content as an earlier one has a result.
      if (id !== undefined && !this.#rowsById.has(id)) this.#rowsById.set(id, row);
      const draft = this.draftOf(row);
      if (draft !== undefined) this.#drafts.set(draft, row);
    }
  }

  isFinished(): boolean {
    return this.#session.run.state.areBegunFinished;
  }

  isOpen(row: number): boolean {
    const { state } = this.#session.run;
    return row >= 1 && row <= state.lastBegun && !state.isFinished(row);
  }

  async *open(): AsyncGenerator<OpenRequest, void, undefined> {
    const { state } = this.#session.run;
    for await (const row of this.#session.run.rows()) {
      if (row.row > state.lastBegun || this.#session.isClosed()) return;
      if (!this.isOpen(row.row) || this.draftOf(row.row) !== undefined) continue;
      this.#session.begin(row.row);
      yield { number: row.row, body: this.#bodyOf(row) };
    }
  }

  numberOf(envelope: Envelope): number | undefined {
    const id = requestIdOf(envelope);
    return id === undefined ? undefined : this.#rowsById.get(id);
  }

  draftOf(row: number): string | undefined {
    const { state } = this.#session.run;
    return state.of(row) === 'reserved' ? state.idOf(row) : undefined;
  }

  drafts(): ReadonlyMap<string, number> {
    return this.#drafts;
  }

  isOwn(row: number, envelopeId: string): boolean {
    const { state } = this.#session.run;
    return state.idOf(row) === envelopeId && state.isOwn(row);
  }

  async hasSameContent(row: number, envelope: Envelope): Promise<boolean> {
    for await (const one of this.#session.run.rows())
      if (one.row === row)
        return one.identity !== 'given' || isForRequest(envelope, { ...one.envelope, content: one.content });
    return true;
  }

  ask<T>(
    request: (signal: AbortSignal) => Promise<T>,
    options: { begins?: boolean; reads?: boolean } = {},
  ): Promise<T> {
    return this.#session.request(request, options);
  }

  lostResponse(): void {
    this.hasLostResponse = true;
  }

  async reserved(row: number, { id }: PrecedenceFacts, isOwn: boolean): Promise<void> {
    // An older draft takes the place of the one that this run created.
    this.#forgetDraft(row);
    await this.#session.run.note({ type: 'reserved', row, id, taken: isOwn ? undefined : true });
    this.#drafts.set(id, row);
  }

  released(row: number): void {
    this.#forgetDraft(row);
    this.#session.run.state.release(row);
  }

  async finished(row: number, result: RequestResult): Promise<void> {
    const { run, options } = this.#session;
    this.#forgetDraft(row);
    if (result.kind === 'failed') {
      const { error, envelopeId: id } = result;
      await run.note({ type: 'failed', row, error: this.#session.factsOf(error), id });
    } else {
      const { id, status } = result.envelope;
      const known = { row, id, status: status ?? 'SENT' };
      if (result.kind === 'done') await run.note({ type: 'done', ...known });
      else
        await run.note({
          type: 'existing',
          ...known,
          changed: result.changed.length > 0 ? [...result.changed] : undefined,
        });
    }
    await options.observer.row(rowResultOf(run.state, row));
    if (result.kind === 'failed') this.#session.stopIfFirstFail();
  }

  async second(row: number, { id, status }: PrecedenceFacts, counted: PrecedenceFacts): Promise<void> {
    const { run, options } = this.#session;
    await options.observer.row(
      secondResult(run.state, { row, id, status: status ?? 'unknown', kept: counted.id }),
    );
  }

  requireOwnError(error: unknown): Error {
    return this.#session.requireRowError(error);
  }

  async decideAlone(row: number): Promise<string> {
    const { run, options } = this.#session;
    const draft = this.draftOf(row) ?? '';
    if (!run.resumed && !this.hasLostResponse) {
      if (!this.#isAlone)
        options.observer.notice(
          'The service does not return the metadata of envelopes, so what was sent is recorded only on this machine. On another machine, the same list would be sent again.',
        );
      this.#isAlone = true;
      return draft;
    }
    throw new StoppedError(
      'UNKNOWN_OUTCOME',
      `The service does not return the metadata that this run stored with ${draft}.`,
      { hint: "Without it, envelopes created earlier can't be found, so nothing is sent." },
    );
  }

  waits(why: string | undefined, msLeft?: number): void {
    this.#session.options.observer.waits?.(why, msLeft);
  }

  #forgetDraft(row: number): void {
    const draft = this.draftOf(row);
    if (draft !== undefined) this.#drafts.delete(draft);
  }

  /** Returns the body of a row's draft, including the metadata that identifies the run and the row. */
  #bodyOf({ row, requestId, envelope }: RunRow): OpenRequest['body'] {
    // As text, because some services only store text.
    const metadata = { ...envelope.metadata, [RUN_KEY]: this.run, [ROW_KEY]: String(row) };
    const webhookSecret = envelope.webhookUrl === undefined ? undefined : this.#session.options.webhookSecret;
    return createBody({ ...envelope, webhookSecret, metadata, send: false }, requestId);
  }
}
