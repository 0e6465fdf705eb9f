import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { EsignError, ServiceError, UsageError } from '../kernel/errors.ts';
import { exists, makePrivateFolder, syncFolder } from '../kernel/files/files.ts';
import { isLocked, lockFile } from '../kernel/files/lock.ts';
import { ifExists } from '../kernel/files/regular-file.ts';
import { command } from '../kernel/text/shell-words.ts';
import { notWritableError } from '../lines/failures.ts';
import { Journal } from '../lines/journal.ts';
import { headerOf, noFirstEntryError, scan } from '../lines/scan.ts';
import { removeOldFailedRows, saveFailedRows } from './failed-rows.ts';
import { type RowKeys, RUN_FORMAT, type RunEntry, type RunHead } from './journal-entries.ts';
import { filesOf, type RunFiles } from './run-files.ts';
import type { RunRow } from './run-row.ts';
import { RunState } from './run-state.ts';
import { readSavedRows, SavedRowsWriter } from './saved-rows.ts';

/** A run that this process is working on. No other process can open it at the same time. */
export interface OpenRun {
  files: RunFiles;
  state: RunState;
  /** True if another process started the run. */
  resumed: boolean;
  /** Yields the rows in order. @throws UsageError at a damaged or missing row. */
  rows(): AsyncIterable<RunRow>;
  /** Appends an entry to the journal and applies it to the state. Resolves when it is on disk. */
  note(entry: RunEntry): Promise<void>;
  /** Records that all rows have a result, and deletes the rows: they contain addresses and perhaps secrets. */
  finish(now: number): Promise<void>;
  /** Closes the run. Further calls do nothing. */
  close(): Promise<void>;
}

/** A run that has not started: its rows are being stored, and nothing has been sent. */
export interface RunDraft {
  id: string;
  add(row: RunRow): Promise<void>;
  /** Writes the journal with the entries already known for the rows. From then on, the run can be resumed. */
  start(head: Omit<RunHead, 'type' | 'id'>, known?: Iterable<RunEntry>): Promise<OpenRun>;
  /** Deletes the draft, unless it has started. */
  discard(): Promise<void>;
}

/** The form of the ID of a run, which is the name of its folder. */
export const RUN_ID = /^run-[\w-]+$/;
const KEYS_PER_ENTRY = 1_024;
const START_LOCK_TIMEOUT_MS = 60_000;
/** Age after which a folder without a journal is deleted, in ms. Runs that were killed before their start leave such folders. */
const LEFTOVER_MS = DAY_MS;

/** Creates a run that has not started yet. @throws UsageError when the folder can't be written. */
export async function draftRun(root: string, now: number): Promise<RunDraft> {
  // The ID includes milliseconds, so that IDs sort by time.
  const stamp = new Date(now)
    .toISOString()
    .replaceAll(/[-:.Z]/g, '')
    .replace('T', '-');
  const id = `run-${stamp}-${randomBytes(4).toString('hex')}`;
  const files = filesOf(root, id);
  return usingFolder(root, async () => {
    await makePrivateFolder(root);
    await clearLeftovers(root, now);
    await removeOldFailedRows(root, now);
    await mkdir(files.folder, { mode: 0o700 });
    const release = await lockFile(files.lock, lockedError(id));
    return draftOf(id, files, await SavedRowsWriter.create(files.plan), release);
  });
}

function draftOf(id: string, files: RunFiles, plan: SavedRowsWriter, release: () => Promise<void>): RunDraft {
  let isStarted = false;
  return {
    id,
    add: (row) => usingFolder(files.folder, () => plan.add(row)),
    start: (facts, known = []) =>
      usingFolder(files.folder, async () => {
        await plan.close();
        await writeJournal(files, { type: 'run', id, ...facts }, known);
        isStarted = true;
        return openRunOf(files, await openJournal(files.journal), release, false);
      }),
    async discard() {
      if (isStarted) return;
      await plan.close().catch(() => undefined);
      await release();
      await rm(files.folder, { recursive: true, force: true }).catch(() => undefined);
    },
  };
}

/** Writes the first entries of a journal. The file is renamed at the end: either all entries exist, or the run doesn't. */
async function writeJournal(files: RunFiles, head: RunHead, known: Iterable<RunEntry>): Promise<void> {
  const unfinished = `${files.journal}.new`;
  const writer = await SavedRowsWriter.create(unfinished);
  try {
    await writer.add(headerOf(RUN_FORMAT));
    await writer.add(head);
    for await (const entry of rowEntries(files.plan)) await writer.add(entry);
    for (const entry of known) await writer.add(entry);
  } finally {
    await writer.close();
  }
  await rename(unfinished, files.journal);
  await syncFolder(files.folder);
  await syncFolder(join(files.folder, '..'));
}

async function openJournal(path: string): Promise<{ state: RunState; journal: Journal<RunEntry> }> {
  const { take, state } = readState(path);
  const journal = await Journal.open<RunEntry>({ path, format: RUN_FORMAT }, take, state);
  return { state: state(), journal };
}

/** Yields the keys of the rows of a plan, many per entry, because each entry is a write to the disk. */
async function* rowEntries(plan: string): AsyncGenerator<RunEntry, void, undefined> {
  let from = 1;
  let rows: RowKeys[] = [];
  for await (const { line, requestId, cells } of readSavedRows(plan)) {
    rows.push([line, requestId, cells]);
    if (rows.length < KEYS_PER_ENTRY) continue;
    yield { type: 'rows', from, rows };
    from += rows.length;
    rows = [];
  }
  if (rows.length > 0) yield { type: 'rows', from, rows };
}

function openRunOf(
  files: RunFiles,
  { state, journal }: { state: RunState; journal: Journal<RunEntry> },
  release: () => Promise<void>,
  resumed: boolean,
): OpenRun {
  let closed: Promise<void> | undefined;
  const note = async (entry: RunEntry) => {
    await journal.append(entry);
    state.apply(entry);
  };
  return {
    files,
    state,
    resumed,
    rows: () => readSavedRows(files.plan, state.head.total),
    note,
    async finish(now) {
      if (state.finishedAt === undefined) await note({ type: 'finished', at: now });
      else if (!(await exists(files.plan))) return;
      await saveFailedRows(state, files);
      await rm(files.plan, { force: true });
    },
    close: () => (closed ??= journal.close().then(release)),
  };
}

/**
 * Opens a run to continue it.
 * @throws ServiceError NOT_FOUND when it does not exist; UsageError when another process is working on it, or its journal can't be
 * used.
 */
export async function openRun(root: string, id: string): Promise<OpenRun> {
  const files = filesOf(root, id);
  const release = await usingFolder(files.folder, async () => {
    if (!RUN_ID.test(id) || !(await ifExists(stat(files.journal)))) throw unknownRunError(id);
    return lockFile(files.lock, lockedError(id));
  });
  try {
    return openRunOf(files, await openJournal(files.journal), release, true);
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Runs `work`, which decides on the rows of a new run and starts it, while no other run on this machine can start.
 * @throws UsageError when another process takes too long to start its run.
 */
export async function withStartLock<T>(root: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const busy = (pid: string) =>
    new UsageError(`Another run is starting (process ${pid}).`, {
      hint: 'Run the command again.',
    });
  const options = { waitMs: START_LOCK_TIMEOUT_MS, clock };
  const release = await usingFolder(root, () => lockFile(join(root, 'start.lock'), busy, options));
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Returns the current state of a run. Another process may be working on it. */
export async function readRun(root: string, id: string): Promise<RunState> {
  const state = await readRunIfHere(root, id);
  if (state === undefined) throw unknownRunError(id);
  return state;
}

/**
 * Returns the current state of a run, or undefined if it has no journal on this machine.
 * @throws UsageError if its journal is damaged.
 */
export async function readRunIfHere(root: string, id: string): Promise<RunState | undefined> {
  if (!RUN_ID.test(id)) return undefined;
  const { journal } = filesOf(root, id);
  const { take, state } = readState(journal);
  await scan<RunEntry>({ path: journal, format: RUN_FORMAT }, take);
  return (await exists(journal)) ? state() : undefined;
}

/** Builds the state of a run from the entries of its journal. `state` throws a UsageError without any entry. */
function readState(journal: string) {
  let read: RunState | undefined;
  const take = (entry: RunEntry) => {
    if (entry.type === 'run') read = new RunState(entry);
    else read?.apply(entry);
  };
  const state = () => {
    if (read === undefined) throw noFirstEntryError(journal);
    return read;
  };
  return { take, state };
}

/** Returns the IDs of all runs, newest first. */
export async function runIds(root: string): Promise<string[]> {
  const names = (await readdir(root).catch(() => [])).filter((name) => RUN_ID.test(name));
  const there = await Promise.all(names.map((name) => exists(filesOf(root, name).journal)));
  return names
    .filter((_, index) => there[index])
    .sort()
    .reverse();
}

/** Returns the newest run that has no journal yet and whose process is running, if any. */
export async function startingRun(root: string): Promise<string | undefined> {
  const names = (await readdir(root).catch(() => [])).filter((name) => RUN_ID.test(name));
  for (const name of names.sort().reverse()) {
    const files = filesOf(root, name);
    if (!(await exists(files.journal)) && (await isLocked(files.lock))) return name;
  }
  return undefined;
}

async function clearLeftovers(root: string, now: number): Promise<void> {
  for (const name of (await readdir(root)).filter((one) => RUN_ID.test(one))) {
    const files = filesOf(root, name);
    const made = await stat(files.folder).catch(() => undefined);
    const isOld = made !== undefined && now - made.mtimeMs > LEFTOVER_MS;
    if (!isOld || (await exists(files.journal)) || (await isLocked(files.lock))) continue;
    await rm(files.folder, { recursive: true, force: true });
  }
}

function lockedError(id: string): (pid: string) => UsageError {
  return (pid) =>
    new UsageError(`Another process (${pid}) is working on ${id}.`, {
      run: id,
      hint: `See its progress: \`${command('bulk', 'status', id)}\`.`,
    });
}

function unknownRunError(id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `Run ${id} was not found on this machine.`, {
    status: 404,
    run: id,
    hint: 'List the runs with `esign bulk list`.',
  });
}

/** Does work in a folder. @throws UsageError if the folder can't be written. */
async function usingFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof EsignError ? error : notWritableError(folder, error);
  }
}
