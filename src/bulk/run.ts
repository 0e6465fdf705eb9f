import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { sendEnvelope } from '../envelopes/actions.ts';
import { createBody } from '../envelopes/create.ts';
import { isAmbiguous } from '../envelopes/settle.ts';
import type { Journal } from '../journal/journal.ts';
import { EsignError, messageOf, NetworkError, UnknownOutcomeError } from '../kernel/errors.ts';
import { ownEnvelopes, RUN_KEY } from './own-envelopes.ts';
import { Pace } from './pace.ts';
import type { BulkRow } from './row.ts';
import type { RunEntry, RunHead, RunState } from './run-journal.ts';
import { decides, Stop } from './stop.ts';

export interface RowResult {
  run: string;
  row: number;
  requestId: string;
  ok: boolean;
  envelopeId: string | null;
  status: string | null;
  error: { code: string; message: string } | null;
}

export interface RunOptions {
  concurrency: number;
  /** Requests this session may make for rows; the rest is left for `bulk resume`. */
  maxRequests: number;
  /** Failed rows after which the run stops. */
  stopOnError: number;
  webhookSecret: string | undefined;
  signal: AbortSignal;
  onRow: (result: RowResult) => Promise<void> | void;
  /** Told when the run waits for a service that is away. */
  onOutage: (error: Error, waitMs: number) => void;
}

export interface RunParts {
  client: Client;
  head: RunHead;
  rows: () => AsyncIterable<BulkRow>;
  journal: Journal<RunEntry>;
  state: RunState;
}

/** Clocks differ: an envelope "created" up to this long before the run may still be its own. */
const CLOCK_SLACK_MS = 10 * 60_000;
/** Pauses before each look for envelopes whose replies were lost: lists lag. */
const LOOKS_MS = [1_000, 3_000, 6_000];
/** Creation is tried anew so many times for a row whose envelope was looked for and not found. */
const ROUNDS = 5;
const OUTAGE_WAITS_MS = [2_000, 5_000, 10_000, 20_000, 40_000, 60_000];

/**
 * Works through the rows of a run, each exactly once however often it is started: what the journal says is done is
 * not done again, and what it leaves open is looked for before anything is created.
 * @throws Stop when the run ends before its rows do; everything so far is in the journal.
 */
export class BulkRun {
  readonly #parts: RunParts;
  readonly #options: RunOptions;
  readonly #pace: Pace;
  readonly #templates = new Set<string>();
  /** Rows whose creation was asked for and whose reply was lost. */
  #lost: BulkRow[] = [];
  #stop: Stop | undefined;
  #requests = 0;
  #failures = 0;
  #hadLosses = false;

  constructor(parts: RunParts, options: RunOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#pace = new Pace(options.concurrency);
  }

  async execute(): Promise<void> {
    const { state, journal, client } = this.#parts;
    this.#hadLosses = [...state.rows.values()].some(({ stage }) => stage === 'asked');
    await this.#settleOpenRows();
    await this.#each(this.#parts.rows(), (row) => this.#work(row));
    for (let round = 1; this.#lost.length > 0 && this.#stop === undefined; round++)
      await this.#settleLost(round);
    if (this.#stop === undefined && this.#hadLosses) await this.#cancelOrphans();
    const at = client.clock.now();
    await journal.append(
      this.#stop ? { type: 'stopped', at, code: this.#stop.code } : { type: 'finished', at },
    );
    if (this.#stop) throw this.#stop;
  }

  /** Rows that an earlier session, or an earlier run with the same request ids, may have created: one walk finds them. */
  async #settleOpenRows(): Promise<void> {
    const { head, state } = this.#parts;
    const open = new Map<string, BulkRow>();
    for await (const row of this.#parts.rows()) {
      this.#templates.add(row.envelope.templateId);
      const stage = state.rows.get(row.row)?.stage;
      if (stage === 'asked' || (stage === undefined && head.ownIds)) open.set(row.requestId, row);
    }
    if (open.size === 0) return;
    for (const pause of this.#hadLosses ? LOOKS_MS : [0]) {
      if (pause > 0) await this.#parts.client.clock.sleep(pause, this.#options.signal);
      await this.#look(open, head.ownIds ? undefined : head.at - CLOCK_SLACK_MS);
      if (open.size === 0) return;
    }
  }

  /** Notes those of the rows that the list has. */
  async #look(open: Map<string, BulkRow>, since: number | undefined): Promise<void> {
    const { client, state } = this.#parts;
    for await (const found of ownEnvelopes(client, { since, templates: this.#templates })) {
      const row = open.get(found.requestId);
      if (row === undefined) continue;
      open.delete(found.requestId);
      const status = found.envelope.status ?? 'UNKNOWN';
      await this.#record({ type: 'created', row: row.row, envelopeId: found.envelope.id, status });
      if (state.rows.get(row.row)?.stage === 'done') await this.#report(row);
    }
  }

  /** Runs `work` for each row at the present pace, until the rows or the run end. */
  async #each(
    rows: AsyncIterable<BulkRow> | Iterable<BulkRow>,
    work: (row: BulkRow) => Promise<void>,
  ): Promise<void> {
    const active = new Set<Promise<void>>();
    for await (const row of rows) {
      const stage = this.#parts.state.rows.get(row.row)?.stage;
      if (stage === 'done' || stage === 'failed') continue;
      await this.#pace.enter();
      const task = work(row)
        .catch((error: unknown) => {
          this.#stop ??= new Stop(error);
        })
        .finally(() => {
          this.#pace.leave();
          active.delete(task);
        });
      active.add(task);
      if (this.#isOver()) break;
    }
    await Promise.all(active);
  }

  #isOver(): boolean {
    const { signal, maxRequests, stopOnError } = this.#options;
    if (signal.aborted) this.#stop ??= new Stop(signal.reason);
    if (this.#requests >= maxRequests)
      this.#stop ??= Stop.because(
        'MAX_REQUESTS',
        `${maxRequests} requests were made, as --max-requests allows.`,
      );
    if (this.#parts.state.failed >= stopOnError)
      this.#stop ??= Stop.because('STOP_ON_ERROR', `${this.#parts.state.failed} rows failed.`);
    return this.#stop !== undefined;
  }

  /** Settles one row, waiting out outages; the row keeps its place in the pace meanwhile. */
  async #work(row: BulkRow): Promise<void> {
    const { clock } = this.#parts.client;
    for (let again = true; again && !this.#isOver(); ) {
      const started = clock.now();
      const error = await this.#attempt(row).then(
        () => undefined,
        (thrown: unknown) => ({ thrown }),
      );
      this.#pace.note(clock.now() - started, error === undefined || decides(error.thrown) === 'row');
      again = error !== undefined && (await this.#fail(row, error.thrown));
    }
  }

  async #attempt(row: BulkRow): Promise<void> {
    const { head, state } = this.#parts;
    const before = state.rows.get(row.row);
    const envelopeId = before?.stage === 'created' ? before.envelopeId : await this.#create(row);
    if (envelopeId !== undefined && head.send && !head.oneStep) await this.#send(row, envelopeId);
    this.#failures = 0;
  }

  /** The id of the new envelope, or undefined when its row is settled, or its reply was lost. */
  async #create(row: BulkRow): Promise<string | undefined> {
    const { client, head } = this.#parts;
    await this.#record({ type: 'asked', row: row.row });
    this.#requests++;
    let envelope: Envelope;
    try {
      envelope = await client.envelopes.create(this.#bodyOf(row));
    } catch (error) {
      if (!isAmbiguous(error)) throw error;
      this.#hadLosses = true;
      this.#lost.push(row);
      this.#failures++;
      if (this.#failures > 50) throw error;
      return undefined;
    }
    await this.#record({
      type: 'created',
      row: row.row,
      envelopeId: envelope.id,
      status: envelope.status ?? 'DRAFT',
    });
    if (head.send && !head.oneStep) return envelope.id;
    await this.#report(row);
    return undefined;
  }

  #bodyOf(row: BulkRow): ReturnType<typeof createBody> {
    const { head } = this.#parts;
    const { webhookSecret } = this.#options;
    const secret =
      row.envelope.webhookUrl === undefined || webhookSecret === undefined ? {} : { webhookSecret };
    const metadata = { ...row.envelope.metadata, [RUN_KEY]: head.id };
    return createBody(
      { ...row.envelope, ...secret, metadata, send: head.send && head.oneStep },
      row.requestId,
    );
  }

  async #send(row: BulkRow, envelopeId: string): Promise<void> {
    const { client } = this.#parts;
    this.#requests++;
    const { envelope } = await sendEnvelope(client, envelopeId).catch(async (error: unknown) => {
      // Sent by an earlier session whose journal did not get to say so.
      if (!(error instanceof EsignError) || error.code !== 'INVALID_STATE') throw error;
      return { envelope: await client.envelopes.get(envelopeId) };
    });
    await this.#record({ type: 'sent', row: row.row, envelopeId, status: envelope.status ?? 'SENT' });
    await this.#report(row);
  }

  /** Notes what an error means: for the row, for the run, or for now. Returns whether to try again. */
  async #fail(row: BulkRow, error: unknown): Promise<boolean> {
    const verdict = decides(error);
    if (verdict === 'run') this.#stop ??= new Stop(error);
    if (verdict === 'later') await this.#waitOut(error);
    if (verdict !== 'row') return verdict === 'later';
    await this.#record({
      type: 'failed',
      row: row.row,
      code: error instanceof EsignError ? error.code : 'UNEXPECTED',
      message: messageOf(error),
    });
    await this.#report(row);
    return false;
  }

  async #waitOut(error: unknown): Promise<void> {
    const wait = OUTAGE_WAITS_MS[Math.floor(this.#failures / this.#options.concurrency)];
    this.#failures++;
    if (wait === undefined) {
      this.#stop ??= new Stop(error);
      return;
    }
    if (error instanceof Error) this.#options.onOutage(error, wait);
    await this.#parts.client.clock.sleep(wait, this.#options.signal).catch(() => undefined);
  }

  /** Looks for the envelopes of lost replies; creates again what is not there, where a second draft mails nobody. */
  async #settleLost(round: number): Promise<void> {
    const open = new Map(this.#lost.map((row) => [row.requestId, row]));
    const lost = this.#lost;
    this.#lost = [];
    for (const pause of LOOKS_MS) {
      await this.#parts.client.clock.sleep(pause, this.#options.signal).catch(() => undefined);
      if (this.#isOver()) return;
      try {
        await this.#look(open, this.#parts.head.at - CLOCK_SLACK_MS);
      } catch (error) {
        if (decides(error) !== 'later') throw error;
      }
      if (open.size === 0) break;
    }
    const { head } = this.#parts;
    const isSafe = !head.send || !head.oneStep;
    if (open.size > 0 && (!isSafe || round >= ROUNDS)) {
      this.#stop ??= new Stop(
        new UnknownOutcomeError(
          `It is not known whether ${open.size} of the envelopes were created: their replies were lost, and they were looked for and not found.`,
        ),
      );
    }
    await this.#each(
      lost.filter((row) => isSafe || !open.has(row.requestId)),
      (row) => this.#work(row),
    );
  }

  /** Drafts of this run that no row stands for: made twice when a reply was lost. They mailed nobody. */
  async #cancelOrphans(): Promise<void> {
    const { client, head, state } = this.#parts;
    const own = new Set([...state.rows.values()].map(({ envelopeId }) => envelopeId));
    const since = head.at - CLOCK_SLACK_MS;
    for await (const { run, envelope } of ownEnvelopes(client, { since, templates: this.#templates })) {
      if (run !== head.id || own.has(envelope.id) || envelope.status !== 'DRAFT') continue;
      await client.envelopes.cancel(envelope.id, 'made twice by a bulk run').catch((error: unknown) => {
        if (error instanceof NetworkError) return;
        throw error;
      });
    }
  }

  async #record(entry: RunEntry): Promise<void> {
    await this.#parts.journal.append(entry);
    this.#parts.state.take(entry);
  }

  async #report(row: BulkRow): Promise<void> {
    await this.#options.onRow(resultOf(this.#parts.head.id, row, this.#parts.state));
  }
}

/** A row as JSON Lines and results.csv have it. */
export function resultOf(run: string, row: BulkRow, state: RunState): RowResult {
  const at = state.rows.get(row.row);
  return {
    run,
    row: row.row,
    requestId: row.requestId,
    ok: at?.stage === 'done',
    envelopeId: at?.envelopeId ?? null,
    status: at?.status ?? null,
    error: at?.error ?? null,
  };
}
