import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { NewEnvelope } from '../envelopes/create.ts';
import { Journal, type JournalFormat, scan } from '../journal/journal.ts';
import { readLine } from '../journal/line.ts';
import { linesOf } from '../journal/lines.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { privateFolder } from '../kernel/files.ts';
import { isLocked, lockFile } from '../kernel/process-lock.ts';
import type { BulkRow } from './row.ts';
import { RUN_FORMAT, type RunEntry, type RunHead, RunState } from './run-journal.ts';

const signer = z.object({
  email: z.string(),
  name: z.string(),
  role: z.optional(z.string()),
  order: z.optional(z.number()),
});
const rowSchema = z.object({
  row: z.number(),
  line: z.number(),
  requestId: z.string(),
  envelope: z.looseObject({ templateId: z.string(), signers: z.array(signer) }),
});

const ROWS_FORMAT: JournalFormat<BulkRow> = { kind: 'bulk-rows', version: 1, read: readRow };

function readRow(value: unknown): BulkRow | undefined {
  const row = rowSchema.safeParse(value);
  if (!row.success) return undefined;
  const { templateId, signers, ...rest } = row.data.envelope;
  return { ...row.data, envelope: { ...rest, templateId, signers: signers.map(withoutBlanks) } };
}

function withoutBlanks(one: z.infer<typeof signer>): NewEnvelope['signers'][number] {
  const { role, order, ...rest } = one;
  return { ...rest, ...(role === undefined ? {} : { role }), ...(order === undefined ? {} : { order }) };
}

/** A name for a run: its time, by which runs are in order, and something that no other run has. */
export function newRunId(now: number): string {
  const time = new Date(now)
    .toISOString()
    .replace(/[-:.Z]/g, '')
    .replace('T', '-');
  return `run-${time}-${randomBytes(2).toString('hex')}`;
}

/** A run as `bulk list` shows it. */
export interface RunSummary {
  id: string;
  file: string;
  createdAt: string;
  state: 'running' | 'interrupted' | 'finished';
  total: number;
  done: number;
  failed: number;
}

/** Runs kept on this machine: a folder each, with the rows and the journal. */
export class RunStore {
  readonly #folder: string;

  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'bulk');
  }

  /** Where files of the run may be put. */
  folderOf(id: string): string {
    return join(this.#folder, id);
  }

  /** Keeps the rows of a new run: resuming it needs no other file. Returns how to give up or to go on. */
  async keepRows(id: string): Promise<{
    add: (row: BulkRow) => Promise<void>;
    close: () => Promise<void>;
    discard: () => Promise<void>;
  }> {
    const journal = await Journal.open<BulkRow>({ path: this.#path(id, 'rows'), format: ROWS_FORMAT });
    return {
      add: (row) => journal.append(row),
      close: () => journal.close(),
      discard: async () => {
        await journal.close().catch(() => undefined);
        await this.discard(id);
      },
    };
  }

  /** Forgets a run that never began. */
  async discard(id: string): Promise<void> {
    await rm(this.folderOf(id), { recursive: true, force: true });
  }

  /** The rows of a run, in order. */
  async *rows(id: string): AsyncGenerator<BulkRow, void, undefined> {
    let number = 0;
    for await (const { text } of linesOf(this.#path(id, 'rows'))) {
      number++;
      const row = number === 1 ? undefined : readRow(readLine(text));
      if (row !== undefined) yield row;
      else if (number > 1) throw new UsageError(`Line ${number} of ${this.#path(id, 'rows')} is damaged.`);
    }
  }

  /** Opens the journal of a run for this process alone. @throws UsageError when another one has it. */
  async open(
    id: string,
  ): Promise<{ journal: Journal<RunEntry>; state: RunState; close: () => Promise<void> }> {
    await privateFolder(this.folderOf(id));
    const release = await lockFile(
      this.#lock(id),
      (pid) =>
        new UsageError(`The run ${id} is at work already (process ${pid}).`, {
          hint: `Follow it: \`esign bulk show ${id}\`.`,
        }),
    );
    try {
      const state = new RunState();
      const journal = await Journal.open<RunEntry>(
        { path: this.#path(id, 'run'), format: RUN_FORMAT },
        (entry) => state.take(entry),
      );
      const close = async () => {
        await journal.close();
        await release();
      };
      return { journal, state, close };
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** What the journal of a run says at this moment. @throws UsageError when there is no such run. */
  async read(id: string): Promise<{ head: RunHead; state: RunState; summary: RunSummary }> {
    const state = new RunState();
    if (/^[\w-]+$/.test(id))
      await scan({ path: this.#path(id, 'run'), format: RUN_FORMAT }, (entry) => state.take(entry));
    const { head } = state;
    if (head === undefined)
      throw new UsageError(`There is no run ${id} on this machine.`, { hint: 'See `esign bulk list`.' });
    const atWork = await isLocked(this.#lock(id));
    const summary: RunSummary = {
      id: head.id,
      file: head.file,
      createdAt: new Date(head.at).toISOString(),
      state: atWork ? 'running' : state.ended === 'finished' ? 'finished' : 'interrupted',
      total: head.rows,
      done: state.done,
      failed: state.failed,
    };
    return { head, state, summary };
  }

  /** All runs, the latest first. Folders without a journal were given up before their first request. */
  async *list(): AsyncGenerator<RunSummary, void, undefined> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    });
    for (const name of names.sort().reverse()) {
      const run = await this.read(name).catch((error: unknown) => {
        if (error instanceof UsageError && error.message.startsWith('There is no run')) return undefined;
        throw error;
      });
      if (run !== undefined) yield run.summary;
    }
  }

  #path(id: string, name: string): string {
    return join(this.folderOf(id), `${name}.jsonl`);
  }

  #lock(id: string): string {
    return join(this.folderOf(id), 'run.lock');
  }
}
