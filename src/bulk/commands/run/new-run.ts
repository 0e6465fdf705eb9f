import type { CommandTerminal } from '../../../cli/terminal.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import type { Context } from '../../../session/context.ts';
import type { ReadOptions } from '../../../tables/table-file.ts';
import type { Mode } from '../../entries.ts';
import { type EarlierRow, findEarlierRows, NewRows } from '../../lookup/earlier-rows.ts';
import { findIdentifiedRows } from '../../lookup/identified-rows.ts';
import {
  differentContentMessage,
  groupKnownRows,
  type KnownRows,
  knownEntries,
} from '../../lookup/known-rows.ts';
import { type PlannedWork, WorkTally } from '../../planned-work.ts';
import { checkFile, type FileReport } from '../../rows/check-file.ts';
import { checkTemplates } from '../../rows/check-templates.ts';
import type { BulkRow, RowDefaults } from '../../rows/row.ts';
import { type OpenRun, type RunDraft, withStartLock } from '../../runs.ts';
import { sourceOf } from '../rows-file.ts';
import type { RunMeans } from './work-on-run.ts';

/*
 * The stages of a new run, in the order in which `bulk create` calls them. Each takes what the earlier ones returned.
 */

/** A list to send, and the flags that determine what is sent, and how. */
export interface ListRequest {
  file: string;
  read: ReadOptions;
  defaults: RowDefaults;
  mode: Mode;
  /** Send only this many rows. */
  first: number | undefined;
  /** Send rows even if an earlier run has sent them. */
  again: boolean;
  /** Continue even if a role of the template has no signer. */
  allowMissing: boolean;
  yes: boolean | undefined;
}

/** The rows of a file, and everything that was found in it. */
export interface ReadList {
  report: FileReport;
  rows: NewRows;
  /** The addresses of the signers of each row. */
  emails: string[][];
}

/** Reads and checks all rows of a file, without the service. The draft of the run stores them. */
export async function readRows(
  { file, read, defaults, again }: ListRequest,
  draft: RunDraft | undefined,
  { terminal }: Context,
): Promise<ReadList> {
  preferLowMemory();
  const source = sourceOf(file);
  const rows = new NewRows(again);
  const emails: string[][] = [];
  const take = async (row: BulkRow) => {
    rows.add(row);
    emails.push(row.envelope.signers.map(({ email }) => email));
    await draft?.add(row);
  };
  // A list from another command may be empty, such as that of those who still have to sign.
  const options = { ...defaults, read, take, mayBeEmpty: file === '-' };
  const report = await terminal.waiting(`Checking ${source.name}`, () => checkFile(source, options));
  return { report, rows, emails };
}

/** What was created before for the rows of a list. */
export interface SentRows {
  /** By the runs on this machine. */
  earlier: ReadonlyMap<number, EarlierRow>;
  /** By any command on any machine. */
  known: KnownRows;
}

/** Compares the rows with their templates and with what was sent before. Adds problems to the report of the list. */
export async function findSentRows(
  list: ReadList,
  request: ListRequest,
  means: RunMeans,
  context: Context,
): Promise<SentRows> {
  const { report } = list;
  const { signal } = context.interrupt;
  try {
    const client = await means.client();
    await checkTemplates(
      client,
      report,
      request.allowMissing || canConfirm(request, context.terminal),
      signal,
    );
    const earlier = await findEarlierRows(runsDir(), client, list.rows, signal);
    const all = await findIdentifiedRows(client, await context.session.memory(), list.rows, earlier, signal);
    const known = groupKnownRows(all.values(), request.mode);
    for (const row of known.other)
      report.problems.add({ line: row.line, column: 'request_id', text: differentContentMessage(row) });
    return { earlier, known };
  } catch (error) {
    // The problems of the file can be fixed without the service.
    if (report.problems.count === 0) throw error;
    return { earlier: new Map(), known: groupKnownRows([], request.mode) };
  }
}

/** Returns true if the user sees a missing role as a warning and is asked before anything is sent. */
function canConfirm({ yes }: ListRequest, terminal: CommandTerminal): boolean {
  return terminal.canAsk && !yes && !terminal.json;
}

/** What a new run does with the rows of a list. */
export interface NewRun {
  request: ListRequest;
  list: ReadList;
  sent: SentRows;
  /** What it does before it is paused (`--first`) or finished. */
  work: PlannedWork;
  /** The last row that it works on before it is paused. */
  last: number;
  /** The number of rows that are not done yet, also after the last one. */
  left: number;
}

export function planRun(list: ReadList, sent: SentRows, request: ListRequest): NewRun {
  const { existing, ended, drafts } = sent.known;
  const done = new Set([...existing, ...ended].map(({ row }) => row));
  const withDraft = new Set(drafts.map(({ row }) => row));
  const open = list.emails
    .map((emails, index) => ({ row: index + 1, emails }))
    .filter(({ row }) => !done.has(row));
  const chosen = open.slice(0, request.first);
  const tally = new WorkTally(request.mode);
  for (const { row, emails } of chosen) tally.add(emails, withDraft.has(row));
  const next = open[chosen.length];
  return {
    request,
    list,
    sent,
    work: tally.total(list.emails.flat()),
    last: next === undefined ? list.report.rows : next.row - 1,
    left: open.length,
  };
}

/** Stores the run. From then on, it can be resumed. */
export function startRun(
  draft: RunDraft,
  { request, list, sent, last }: NewRun,
  means: RunMeans,
  context: Context,
): Promise<OpenRun> {
  const { session } = context;
  const { report } = list;
  return withStartLock(runsDir(), session.clock, async () => {
    const client = await means.client();
    const earlier = await findEarlierRows(runsDir(), client, list.rows, context.interrupt.signal);
    if (!isSame(earlier, sent.earlier))
      throw new UsageError('Another run with the same rows started in the meantime, so nothing was sent.', {
        hint: 'Run the command again.',
      });
    const { profileName } = await session.settings();
    const head = {
      at: session.now(),
      file: report.name,
      total: report.rows,
      mode: request.mode,
      baseUrl: client.baseUrl,
      profile: profileName?.value ?? null,
      ownRequestIds: report.ownRequestIds,
      source: report.source,
    };
    const limit = { type: 'upTo', row: last, at: session.clock.now() } as const;
    return draft.start(head, [...(last < report.rows ? [limit] : []), ...knownEntries(sent.known)]);
  });
}

function isSame(one: ReadonlyMap<number, EarlierRow>, other: ReadonlyMap<number, EarlierRow>): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(
    ([row, { kind, run }]) => other.get(row)?.kind === kind && other.get(row)?.run === run,
  );
}
