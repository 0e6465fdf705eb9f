import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpRequest } from '../../src/api/http.ts';
import type { Mode } from '../../src/bulk/entries.ts';
import { findEarlierRows, NewRows } from '../../src/bulk/lookup/earlier-rows.ts';
import { findIdentifiedRows } from '../../src/bulk/lookup/identified-rows.ts';
import { groupKnownRows, knownEntries } from '../../src/bulk/lookup/known-rows.ts';
import type { BulkRow } from '../../src/bulk/rows/row.ts';
import { processRun, type RunEnding } from '../../src/bulk/run.ts';
import { draftRun, type OpenRun, openRun, readRun, runIds } from '../../src/bulk/runs.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { JournalError } from '../../src/kernel/errors.ts';
import { RUN_KEY } from '../../src/kernel/vocabulary.ts';
import { BASE_URL, BulkService, type Fate } from './bulk-service.ts';
import { memoryOf } from './recording.ts';
import { seeded } from './seeded.ts';

/** The result of a campaign; anything in `wrong` is a broken promise. */
export interface Campaign {
  wrong: string[];
  facts: string;
  kills: number;
  restores: number;
  lost: number;
}

const HOUR = 3_600_000;

/**
 * Sends one list through every fault that the seed chooses: processes killed at any request and any journal entry, lost
 * responses, lists that lag or omit metadata, clocks hours apart, state folders restored from an earlier copy, a second
 * state folder, and the list run again. At the end, without faults, every signer must have got one email.
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
  readonly #service: BulkService;
  readonly #mode: Mode = 'two-step';
  readonly #rows: BulkRow[];
  /** How many rows each process sends (`--first`); 0 if it sends all. */
  readonly #first: number;
  readonly #copies: string[] = [];
  /** Runs whose state was replaced by a copy from before they began. */
  readonly #lostRuns = new Set<string>();
  readonly #lossRate: number;
  readonly #root: string;
  readonly #seed: number;
  readonly #result: Campaign = { wrong: [], facts: '', kills: 0, restores: 0, lost: 0 };
  #shift = 0;
  #runId = '';

  constructor(seed: number, root: string) {
    this.#seed = seed;
    this.#root = root;
    this.#random = seeded(seed);
    this.#folders = [join(root, 'a'), join(root, 'b')];
    this.#lossRate = this.#pick([0, 0.05, 0.2]);
    this.#service = new BulkService({
      lagMs: this.#pick([0, 0, 700, 3_000, 20_000, 50_000]),
      metadata: this.#pick(['whole', 'whole', 'null', 'empty', 'absent']),
      order: this.#pick(['newest', 'oldest', 'id']),
      createdSkewMs: this.#pick([0, 0, -30 * 60_000, 2 * HOUR]),
      tellsTime: this.#random() < 0.6,
    });
    const hasRequestIds = this.#random() < 0.3;
    const count = 2 + Math.floor(this.#random() * 7);
    this.#rows = Array.from({ length: count }, (_, index) => rowOf(index + 1, hasRequestIds));
    this.#first = this.#pick([0, 0, 1, 2]);
  }

  async run(): Promise<Campaign> {
    await this.#begin(0, true);
    const rounds = 1 + Math.floor(this.#random() * 4);
    for (let round = 0; round < rounds; round++) {
      await this.#somethingHappens();
      await this.#again(true);
    }
    const ending = await this.#finish();
    // A second time: nothing is left to do.
    await this.#begin(0, false);
    return this.#judged(ending);
  }

  /** Completes every run of each state folder, without faults. */
  async #finish(): Promise<RunEnding | undefined> {
    const endings = new Map<string, RunEnding>();
    for (let attempt = 0; attempt < 6; attempt++) {
      for (const [index, folder] of this.#folders.entries()) {
        for (const id of await runIds(folder)) {
          this.#service.time += HOUR;
          endings.set(folder + id, await this.#work(await openRun(folder, id), index, false));
        }
      }
      if (endings.size === 0) await this.#begin(0, false);
    }
    return [...endings.values()].find(({ kind }) => kind !== 'finished') ?? [...endings.values()][0];
  }

  async #judged(ending: RunEnding | undefined): Promise<Campaign> {
    const { emails, habits } = this.#service;
    const { wrong } = this.#result;
    wrong.push(...this.#service.emailedTwice().map((twice) => `emailed twice ${twice}`));
    if (ending?.kind !== 'finished') wrong.push(`not finished: ${JSON.stringify(ending)}`);
    else if (emails.size !== this.#rows.length) wrong.push(`emailed ${emails.size} of ${this.#rows.length}`);
    const drafts = this.#service
      .drafts()
      .filter(({ metadata }) => !this.#lostRuns.has(String(metadata[RUN_KEY])));
    if (ending?.kind === 'finished' && drafts.length > 0) wrong.push(`${drafts.length} drafts left over`);
    const facts = {
      seed: this.#seed,
      mode: this.#mode,
      rows: this.#rows.length,
      first: this.#first,
      ...habits,
    };
    return { ...this.#result, facts: JSON.stringify(facts) };
  }

  /** Events between two processes. */
  async #somethingHappens(): Promise<void> {
    this.#service.time += this.#pick([100, 5_000, 90_000]);
    this.#shift = this.#pick([0, 0, 2 * HOUR, -5 * HOUR, 30 * HOUR]);
    const copy = this.#copies[Math.floor(this.#random() * this.#copies.length)];
    if (copy === undefined || this.#random() < 0.4) return;
    // An earlier state is restored, on this or another machine.
    const folder = this.#folder(this.#random() < 0.5 ? 0 : 1);
    const runs = await this.#runs();
    await rm(folder, { recursive: true, force: true });
    await cp(copy, folder, { recursive: true });
    this.#result.restores++;
    // No command can know of a lost run again: its draft, which has emailed no one, may be left at the end.
    const kept = await this.#runs();
    for (const id of runs) if (!kept.includes(id)) this.#lostRuns.add(id);
    for (const id of kept) this.#lostRuns.delete(id);
  }

  async #runs(): Promise<string[]> {
    return (await Promise.all(this.#folders.map(runIds))).flat();
  }

  #folder(index: number): string {
    return this.#folders[index] ?? this.#root;
  }

  /** Another process continues the run, on the first machine or the second. */
  async #again(isFaulty: boolean): Promise<RunEnding | undefined> {
    const other = this.#random() < 0.3 ? 1 : 0;
    for (const index of [other, 1 - other]) {
      const folder = this.#folder(index);
      const state = await readRun(folder, this.#runId).catch(() => undefined);
      if (state === undefined) continue;
      if (state.finishedAt !== undefined && this.#random() < 0.5) return this.#begin(index, isFaulty);
      return this.#work(await openRun(folder, this.#runId), index, isFaulty);
    }
    return this.#begin(other, isFaulty);
  }

  /** Runs the list as `bulk create` does; if an earlier run of it is not finished, that one is resumed. */
  async #begin(index: number, isFaulty: boolean): Promise<RunEnding | undefined> {
    const folder = this.#folder(index);
    const clock = this.#clock();
    const draft = await draftRun(folder, clock.now());
    const wanted = new NewRows(false);
    for (const row of this.#rows) {
      wanted.add(row);
      await draft.add(row);
    }
    const memory = memoryOf(folder, clock);
    const client = this.#service.client(clock, () => 'whole', memory);
    const earlier = await findEarlierRows(folder, client, wanted);
    const found = await findIdentifiedRows(client, memory, wanted, earlier);
    const known = groupKnownRows(found.values(), this.#mode);
    const [unfinished] = known.unfinished;
    // Without state, only request IDs show what was sent.
    const isForgotten = known.existing.length + known.drafts.length === 0 && this.#runId !== '';
    if (unfinished !== undefined || (isForgotten && this.#rows[0]?.requestId === undefined)) {
      await draft.discard();
      if (unfinished === undefined) return undefined;
      return this.#work(await openRun(folder, unfinished.run ?? ''), index, isFaulty);
    }
    const head = {
      at: clock.now(),
      file: 'list.csv',
      total: this.#rows.length,
      mode: this.#mode,
      baseUrl: BASE_URL,
      profile: null,
      ownRequestIds: this.#rows.filter(({ requestId }) => requestId !== undefined).length,
      source: { format: 'csv' as const, encoding: 'utf-8' },
    };
    this.#runId = draft.id;
    const entries = [...knownEntries(known)];
    if (this.#first > 0) entries.push({ type: 'upTo', row: this.#first, at: head.at });
    return this.#work(await draft.start(head, entries), index, isFaulty);
  }

  /** One process: it works until it is done, or until it is killed at one of its requests or entries. */
  async #work(run: OpenRun, index: number, isFaulty: boolean): Promise<RunEnding> {
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
    const fate = async (request: HttpRequest): Promise<Fate> => {
      const alive = !killed();
      await step();
      // A killed process sends nothing more, but requests in flight may arrive.
      if (killed()) return alive && this.#random() < 0.5 ? 'lost' : 'refused';
      return isFaulty && request.method === 'POST' ? this.#fateOfWrite() : 'whole';
    };
    try {
      const first = isFaulty && this.#first > 0 ? this.#first : undefined;
      if (run.resumed && run.state.isPaused)
        await run.note({ type: 'upTo', row: run.state.lastOfNext(first), at: this.#service.time });
      const clock = this.#clock();
      const memory = memoryOf(this.#folder(index), clock);
      const client = this.#service.client(clock, fate, memory);
      return await processRun(run, {
        client,
        memory,
        concurrency: this.#pick([1, 3]),
        signal: killer.signal,
        redact: (text) => text,
        observer: { row: () => undefined, notice: () => undefined },
      });
    } catch (error) {
      if (error instanceof JournalError) return { kind: 'interrupted' };
      throw error;
    } finally {
      await run.close();
    }
  }

  #fateOfWrite(): Fate {
    if (this.#random() >= this.#lossRate) return 'whole';
    this.#result.lost++;
    return this.#pick<Fate>(['lost', 'lost', 'refused', { status: 408 }, { status: 499 }, { status: 425 }]);
  }

  async #copy(index: number): Promise<void> {
    const copy = join(this.#root, `copy-${this.#copies.length}`);
    await cp(this.#folder(index), copy, { recursive: true, filter: (path) => !path.includes('lock') });
    this.#copies.push(copy);
  }

  /** A machine's clock: hours off, and advanced by the service's time. */
  #clock(): Clock {
    const shift = this.#shift;
    return {
      now: () => this.#service.time + shift,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        this.#service.time += ms;
        await Promise.resolve();
      },
    };
  }

  #pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#random() * choices.length)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  }
}

function rowOf(row: number, hasRequestId: boolean): BulkRow {
  const email = `s${row}@example.com`;
  return {
    row,
    line: row + 1,
    ...(hasRequestId ? { requestId: `own-${row}` } : {}),
    content: `content-${row}`,
    cells: `cells-${row}`,
    envelope: { templateId: 'tmpl_1', signers: [{ email, name: `S ${row}` }] },
  };
}
