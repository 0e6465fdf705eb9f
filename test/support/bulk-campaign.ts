import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { HttpRequest } from '../../src/api/http.ts';
import { groupKnownRows, journalEntriesOfKnownRows } from '../../src/bulk/known-rows.ts';
import { readRememberedRows } from '../../src/bulk/remembered-rows.ts';
import { processRun, type RunEnding } from '../../src/bulk/run.ts';
import type { RunOptions } from '../../src/bulk/run-session.ts';
import { wantedRow } from '../../src/bulk/wanted-row.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { JournalError } from '../../src/kernel/errors.ts';
import { findRequests } from '../../src/once/look.ts';
import type { KnownEnvelopes } from '../../src/once/process-requests.ts';
import { isWantedRequest, WantedRequests } from '../../src/once/wanted-requests.ts';
import { holdRun } from '../../src/runs/hold-run.ts';
import type { RunMode } from '../../src/runs/journal-entries.ts';
import type { RunRow } from '../../src/runs/run-row.ts';
import { draftRun, type OpenRun, openRun, readRun, runIds } from '../../src/runs/runs.ts';
import { headOf, rowOf } from './bulk-rows.ts';
import { fakeClock } from './clock.ts';
import { FaultyService } from './faulty-service.ts';
import { killableClient, type RequestFate } from './killable-client.ts';
import { memoryOf } from './recording.ts';
import { seeded } from './seeded.ts';

/** The result of a campaign; anything in `wrong` is a broken promise. */
export interface Campaign {
  wrong: string[];
  facts: string;
  kills: number;
  restores: number;
  lost: number;
  /** How often two machines worked at the same moment. */
  together: number;
}

const HOUR = 3_600_000;

/**
 * Sends one list through every fault that the seed chooses: processes killed at any request and any journal entry, lost
 * responses, lists that lag or omit metadata, clocks hours apart, state folders restored from an earlier copy, a second
 * machine with its own state or a copy, also at the same moment, and the list run again. At the end, without faults, every signer must have got one email.
 */
export async function campaign(seed: number): Promise<Campaign> {
  const root = await mkdtemp(join(tmpdir(), 'esign-campaign-'));
  try {
    return await new Course(seed, root).run();
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

class Course {
  readonly #random: () => number;
  readonly #folders: string[];
  readonly #time = fakeClock();
  readonly #service: FaultyService;
  readonly #mode: RunMode = 'two-step';
  readonly #rows: RunRow[];
  /** How many rows each process sends (`--first`); 0 if it sends all. */
  readonly #first: number;
  readonly #copies: string[] = [];
  #copyCount = 0;
  readonly #lossRate: number;
  readonly #root: string;
  readonly #seed: number;
  readonly #result: Campaign = { wrong: [], facts: '', kills: 0, restores: 0, lost: 0, together: 0 };
  #shift = 0;
  #runId = '';

  constructor(seed: number, root: string) {
    this.#seed = seed;
    this.#root = root;
    this.#random = seeded(seed);
    this.#folders = [join(root, 'a'), join(root, 'b')];
    this.#lossRate = this.#pick([0, 0.05, 0.2]);
    this.#service = new FaultyService(this.#time, {
      listLagMs: this.#pick([0, 0, 700, 3_000, 20_000, 50_000]),
      listMetadata: this.#pick(['shown', 'shown', 'null', 'empty', 'missing']),
      order: this.#pick(['newest-first', 'oldest-first', 'id']),
      // In another order than they were created.
      idOf: (number) => `env_${String((number * 7_919) % 9_973).padStart(5, '0')}`,
      createdSkewMs: this.#pick([0, 0, -30 * 60_000, 2 * HOUR]),
      dateSkewMs: this.#random() < 0.6 ? 0 : 'no header',
    });
    const requestIds = this.#random() < 0.3;
    const count = 2 + Math.floor(this.#random() * 7);
    this.#rows = Array.from({ length: count }, (_, index) => rowOf(index + 1, { requestIds }));
    this.#first = this.#pick([0, 0, 1, 2]);
  }

  async run(): Promise<Campaign> {
    await this.#begin(0, true);
    const rounds = 1 + Math.floor(this.#random() * 4);
    for (let round = 0; round < rounds; round++) {
      await this.#somethingHappens();
      if (this.#random() < 0.4) {
        this.#result.together++;
        await Promise.all([this.#again(0, true), this.#again(1, true)]);
      } else await this.#again(this.#random() < 0.3 ? 1 : 0, true);
    }
    const ending = await this.#finish();
    // A second time: nothing is left to do.
    await this.#begin(0, false);
    return this.#judged(ending);
  }

  /** Completes every run of each state folder, without faults. */
  async #finish(): Promise<RunEnding | undefined> {
    let endings = new Map<string, RunEnding>();
    for (let attempt = 0; attempt < 6; attempt++) {
      endings = new Map();
      for (const [index, folder] of this.#folders.entries()) {
        for (const id of await runIds(folder)) {
          this.#time.time += HOUR;
          const { endedAt } = await readRun(folder, id);
          if (endedAt === undefined)
            endings.set(folder + id, await this.#work(await openRun(folder, id), index, false));
        }
      }
      if (endings.size === 0) await this.#begin(0, false);
    }
    return [...endings.values()].find(({ kind }) => kind !== 'finished') ?? { kind: 'finished' };
  }

  async #judged(ending: RunEnding | undefined): Promise<Campaign> {
    const emails = Object.entries(this.#service.emailsByAddress());
    const { wrong } = this.#result;
    const twice = emails.filter(([, count]) => count > 1);
    wrong.push(...twice.map(([address, count]) => `emailed twice ${address}: ${count}`));
    if (ending?.kind !== 'finished') wrong.push(`not finished: ${JSON.stringify(ending)}`);
    else if (emails.length !== this.#rows.length)
      wrong.push(`emailed ${emails.length} of ${this.#rows.length}`);
    const facts = {
      seed: this.#seed,
      mode: this.#mode,
      rows: this.#rows.length,
      first: this.#first,
      ...this.#service.behavior,
    };
    return { ...this.#result, facts: JSON.stringify(facts) };
  }

  /** Events between two processes. */
  async #somethingHappens(): Promise<void> {
    this.#time.time += this.#pick([100, 5_000, 90_000]);
    this.#shift = this.#pick([0, 0, 2 * HOUR, -5 * HOUR, 30 * HOUR]);
    const copy = this.#copies[Math.floor(this.#random() * this.#copies.length)];
    if (copy === undefined || this.#random() < 0.4) return;
    // An earlier state is restored, on this or another machine.
    const folder = this.#folder(this.#random() < 0.5 ? 0 : 1);
    await rm(folder, { recursive: true, force: true });
    await cp(copy, folder, { recursive: true });
    this.#result.restores++;
  }

  #folder(index: number): string {
    return this.#folders[index] ?? this.#root;
  }

  /** A process on this machine continues the run, or runs the list again. */
  async #again(index: number, isFaulty: boolean): Promise<void> {
    const folder = this.#folder(index);
    // Another process may begin a run meanwhile.
    const id = this.#runId;
    const state = await readRun(folder, id).catch(() => undefined);
    const isOver = state === undefined || state.endedAt !== undefined || state.finishedAt !== undefined;
    if (isOver || this.#random() < 0.4) await this.#begin(index, isFaulty);
    else await this.#work(await openRun(folder, id), index, isFaulty);
  }

  /** Runs the list as `bulk create` does: earlier runs of it that are not finished end. */
  async #begin(index: number, isFaulty: boolean): Promise<void> {
    const folder = this.#folder(index);
    const clock = this.#clock();
    const draft = await draftRun(folder, clock.now());
    const wanted = new WantedRequests(isWantedRequest);
    for (const row of this.#rows) {
      wanted.add(row.row, wantedRow(row));
      await draft.add(row);
    }
    const whole = (): RequestFate => {
      this.#time.time += 7;
      return 'whole';
    };
    const client = killableClient(this.#service, clock, whole, memoryOf(folder, clock));
    const { ids: remembered, unfinished } = await readRememberedRows(folder, client, wanted);
    const at = clock.now();
    const { found } = await findRequests(client, wanted, { remembered });
    const rows = [...found].map(([row, one]) => ({ row, line: row + 1, found: one }));
    const known = groupKnownRows(rows, [], this.#mode);
    const done = new Set([...known.existing, ...known.ended].map(({ row }) => row));
    const open = this.#rows.filter(({ row }) => !done.has(row));
    if (open.length === 0) return draft.discard();
    const { baseUrl } = this.#service;
    const head = headOf({ at, total: this.#rows.length, mode: this.#mode, baseUrl });
    this.#runId = draft.id;
    const entries = [...journalEntriesOfKnownRows(known)];
    const next = this.#first > 0 ? open[this.#first] : undefined;
    if (next !== undefined) entries.push({ type: 'upTo', row: next.row - 1, at: head.at });
    const run = await draft.start(head, entries);
    for (const { head: earlier } of unfinished) {
      const held = await holdRun(folder, earlier.id);
      await held?.end(at, draft.id);
      await held?.release();
    }
    const drafts = new Map([...known.drafts, ...known.corrected].map(({ row, found: one }) => [row, one]));
    await this.#work(run, index, isFaulty, { at, found: drafts, notBefore: 0 });
  }

  /** One process: it works until it is done, or until it is killed at one of its requests or entries. */
  async #work(run: OpenRun, index: number, isFaulty: boolean, look?: KnownEnvelopes): Promise<RunEnding> {
    const killer = new AbortController();
    let steps = isFaulty ? Math.floor(this.#random() * this.#rows.length * 6) : Number.POSITIVE_INFINITY;
    const killed = () => killer.signal.aborted;
    const step = async () => {
      if (steps-- > 0 || killed()) return;
      this.#result.kills++;
      killer.abort();
    };
    const note = run.note.bind(run);
    run.note = async (entry) => {
      await step();
      if (killed()) throw new JournalError('killed');
      await note(entry);
      if (isFaulty && this.#random() < 0.2) await this.#copy(index);
    };
    const fate = async (request: HttpRequest): Promise<RequestFate> => {
      this.#time.time += 7;
      const alive = !killed();
      await step();
      // A killed process sends nothing more, but requests in flight may arrive.
      if (killed()) return alive && this.#random() < 0.5 ? 'lost' : 'killed';
      return isFaulty && request.method === 'POST' ? this.#fateOfWrite() : 'whole';
    };
    try {
      const first = isFaulty && this.#first > 0 ? this.#first : undefined;
      if (run.resumed && run.state.isPaused)
        await run.note({ type: 'upTo', row: run.state.lastOfNext(first), at: this.#time.time });
      const clock = this.#clock();
      const memory = memoryOf(this.#folder(index), clock);
      const client = killableClient(this.#service, clock, fate, memory);
      const options: RunOptions = {
        client,
        concurrency: this.#pick([1, 3]),
        signal: killer.signal,
        redact: (text) => text,
        observer: { row: () => undefined, notice: () => undefined },
      };
      return await processRun(run, options, look);
    } catch (error) {
      if (error instanceof JournalError) return { kind: 'interrupted' };
      throw error;
    } finally {
      await run.close();
    }
  }

  #fateOfWrite(): RequestFate {
    if (this.#random() >= this.#lossRate) return 'whole';
    this.#result.lost++;
    return this.#pick<RequestFate>([
      'lost',
      'lost',
      'refused',
      { status: 408 },
      { status: 499 },
      { status: 425 },
    ]);
  }

  async #copy(index: number): Promise<void> {
    const copy = join(this.#root, `copy-${this.#copyCount++}`);
    await cp(this.#folder(index), copy, { recursive: true, filter: (path) => !path.includes('lock') });
    this.#copies.push(copy);
  }

  /** A machine's clock: hours off, and advanced by the service's time. */
  #clock(): Clock {
    const shift = this.#shift;
    return {
      now: () => this.#time.time + shift,
      // Other processes go on meanwhile.
      sleep: async (ms, signal) => {
        const until = this.#time.time + ms;
        while (this.#time.time < until) {
          signal?.throwIfAborted();
          await setImmediate();
          this.#time.time += Math.min(until - this.#time.time, Math.max(50, ms / 40));
        }
      },
    };
  }

  #pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#random() * choices.length)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  }
}
