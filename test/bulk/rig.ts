import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../src/api/client.ts';
import { groupKnownRows, journalEntriesOfKnownRows } from '../../src/bulk/known-rows.ts';
import { processRun, type RunEnding } from '../../src/bulk/run.ts';
import type { RunOptions } from '../../src/bulk/run-session.ts';
import { wantedRow } from '../../src/bulk/wanted-row.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { findRequests } from '../../src/once/look.ts';
import type { KnownEnvelopes } from '../../src/once/process-requests.ts';
import { isWantedRequest, WantedRequests } from '../../src/once/wanted-requests.ts';
import type { RunEntry, RunMode } from '../../src/runs/journal-entries.ts';
import { type RowResult, rowResultsOf } from '../../src/runs/results.ts';
import { draftRun, type OpenRun, openRun } from '../../src/runs/runs.ts';
import { headOf, type RowOptions, rowOf } from '../support/bulk-rows.ts';
import { fakeClock } from '../support/clock.ts';
import { FaultyService } from '../support/faulty-service.ts';
import { memoryOf } from '../support/recording.ts';
import type { Behavior, Fate, Write } from '../support/service-behavior.ts';

export interface Worked {
  ending: RunEnding;
  results: RowResult[];
  notices: string[];
  reported: RowResult[];
}

interface Begun {
  run: OpenRun;
  look: KnownEnvelopes;
}

/** What happens to the writes of one kind, by their number; the others succeed. */
export function fatesOf(what: Write['what'], fate: (number: number) => Fate | undefined): Behavior {
  return { fateOf: (write) => (write.what === what ? fate(write.nth) : undefined) ?? 'ok' };
}

/** The metadata and signers that an envelope of a row has. */
export function envelopeOf(row: number, run?: string, options?: RowOptions) {
  const { requestId, content, envelope } = rowOf(row, options);
  const own = run === undefined ? {} : { esignRun: run, esignRow: String(row) };
  return {
    metadata: { ...own, esignRequestId: requestId, esignContent: content },
    signers: envelope.signers.map((signer) => ({ ...signer })),
  };
}

/** Runs in the test's own folder. */
export class Runs {
  readonly clock = fakeClock();
  service = new FaultyService(this.clock);
  readonly #begun = new Map<string, Begun>();
  root = '';
  client: Client | undefined;

  async open(): Promise<void> {
    this.root = await mkdtemp(join(tmpdir(), 'esign-bulk-'));
    this.service = await FaultyService.start(this.clock);
    this.client = this.service.client(this.clock, this.memory, { retries: 1, random: () => 0.5 });
  }

  async close(): Promise<void> {
    for (const { run } of this.#begun.values()) await run.close();
    await this.service.close();
    await rm(this.root, { recursive: true, force: true });
  }

  get connected(): Client {
    if (this.client === undefined) throw new Error('not open');
    return this.client;
  }

  /** A run of this many rows that has just begun, or that was killed after these entries. */
  async begin(
    rows: number,
    mode: RunMode,
    { entries, ...options }: RowOptions & { entries?: RunEntry[] } = {},
  ): Promise<string> {
    const draft = await draftRun(this.root, this.clock.now());
    const wanted = new WantedRequests(isWantedRequest);
    for (let row = 1; row <= rows; row++) {
      const one = rowOf(row, options);
      wanted.add(row, wantedRow(one));
      await draft.add(one);
    }
    // As `bulk create` does before it asks for confirmation.
    const at = this.clock.now();
    const { found } = await findRequests(this.connected, wanted);
    const known = groupKnownRows(
      [...found].map(([row, one]) => ({ row, line: row + 1, found: one })),
      [],
      mode,
    );
    const head = headOf({ at, total: rows, mode, baseUrl: this.connected.baseUrl });
    const run = await draft.start(head, journalEntriesOfKnownRows(known));
    for (const entry of entries ?? []) await run.note(entry);
    // A run with entries was killed: the next process opens it.
    if (entries === undefined) this.#begun.set(draft.id, { run, look: { at, found, notBefore: 0 } });
    else await run.close();
    return draft.id;
  }

  /** The log on this machine. */
  get memory(): WriteMemory {
    return memoryOf(this.root, this.clock);
  }

  /** Works on a run in the process that began it. Later calls work like other processes. */
  async work(id: string, options: Partial<RunOptions> = {}): Promise<Worked> {
    const begun = this.#begun.get(id);
    this.#begun.delete(id);
    const run = begun?.run ?? (await openRun(this.root, id));
    const notices: string[] = [];
    const reported: RowResult[] = [];
    const observer = {
      row: (result: RowResult) => void reported.push(result),
      notice: (text: string) => void notices.push(text),
    };
    try {
      const ending = await processRun(
        run,
        {
          client: this.connected,
          concurrency: 4,
          signal: new AbortController().signal,
          redact: (text) => text,
          observer,
          ...options,
        },
        begun?.look,
      );
      return { ending, results: await allResults(run), notices, reported };
    } finally {
      await run.close();
    }
  }
}

/** Undefined if the rows can't be read. */
async function allResults(run: OpenRun): Promise<RowResult[]> {
  const results: RowResult[] = [];
  try {
    for await (const result of rowResultsOf(run.state, run.files)) results.push(result);
  } catch {
    return [];
  }
  return results;
}
