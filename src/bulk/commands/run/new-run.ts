import type { Envelope } from '../../../api/resource-types.ts';
import { AccountHistory, type AskedRow, type AskedSigner } from '../../../catalog/account-history.ts';
import { MAX_LIST_LAG_MS } from '../../../catalog/envelope-list.ts';
import type { Context } from '../../../cli/session/context.ts';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { runsDir } from '../../../kernel/files/paths.ts';
import { preferLowMemory } from '../../../kernel/process/v8-flags.ts';
import { addressesAskedFirst } from '../../../once/create-body.ts';
import { readLoggedCreates } from '../../../once/logged-creates.ts';
import { findRequests } from '../../../once/look.ts';
import type { KnownEnvelopes } from '../../../once/process-requests.ts';
import type { RequestSigner } from '../../../once/request-identity.ts';
import { isWantedRequest, type WantedRequest, WantedRequests } from '../../../once/wanted-requests.ts';
import type { RunMode } from '../../../runs/journal-entries.ts';
import type { RunRow } from '../../../runs/run-row.ts';
import type { RunState } from '../../../runs/run-state.ts';
import { type OpenRun, type RunDraft, withStartLock } from '../../../runs/runs.ts';
import type { ReadOptions } from '../../../tables/open-table.ts';
import {
  differentContentMessage,
  groupKnownRows,
  journalEntriesOfKnownRows,
  type KnownRows,
  type RepeatedRow,
} from '../../known-rows.ts';
import { type PlannedWork, WorkCounter } from '../../planned-work.ts';
import { readRememberedRows } from '../../remembered-rows.ts';
import { checkFile, type FileReport } from '../../rows/check-file.ts';
import type { RowDefaults } from '../../rows/check-row.ts';
import { checkTemplates } from '../../rows/check-templates.ts';
import { mayHaveOpenRequests } from '../../run.ts';
import { wantedRow } from '../../wanted-row.ts';
import { openRowsSource } from '../rows-file.ts';
import { endContinuedRuns, refuseBusyRuns, refuseOtherRuns } from './continued-runs.ts';
import type { RunTools } from './work-on-run.ts';

/*
 * The stages of a new run, in the order in which `bulk create` calls them. Each takes what the earlier ones returned.
 */

/** A list to send, and the flags that determine what is sent, and how. */
export interface BulkRequest {
  file: string;
  read: ReadOptions;
  defaults: RowDefaults;
  mode: RunMode;
  /** Send only this many rows. */
  first: number | undefined;
  /** Send rows even if they have been sent. */
  again: boolean;
  /** Continue even if a role of the template has no signer. */
  allowMissing: boolean;
  yes: boolean | undefined;
}

/** A row to look for, with what is shown before it is sent. */
export interface ListedRow extends WantedRequest, AskedRow {
  line: number;
  signers: readonly (RequestSigner & AskedSigner)[];
  /** How many of its signers are emailed when it is sent. */
  askedFirst: number;
}

/** The rows of a file, and everything that was found in it. */
export interface CheckedList {
  report: FileReport;
  /** All rows but the repeated ones. */
  wanted: WantedRequests<ListedRow>;
  repeated: RepeatedRow[];
}

/** Reads and checks all rows of a file, without the service. The draft of the run stores them. */
export async function readRows(
  { file, read, defaults, again }: BulkRequest,
  draft: RunDraft | undefined,
  { terminal }: Context,
): Promise<CheckedList> {
  preferLowMemory();
  const source = openRowsSource(file);
  const list: Omit<CheckedList, 'report'> = {
    wanted: new WantedRequests(isListedRow),
    repeated: [],
  };
  const take = async (checked: RunRow) => {
    const row = again ? sentAgain(checked, draft) : checked;
    const { line, sameAs, requestId } = row;
    if (sameAs === undefined) list.wanted.add(row.row, listedRow(row));
    else list.repeated.push({ row: row.row, line, sameAs, requestId });
    await draft?.add(row);
  };
  // A list from another command may be empty, such as that of those who still have to sign.
  const options = { ...defaults, read, take, mayBeEmpty: file === '-' };
  const report = await terminal.waiting(`Checking ${source.name}`, () => checkFile(source, options));
  return { ...list, report };
}

function isListedRow(value: unknown): value is ListedRow {
  return isWantedRequest(value) && 'line' in value && 'askedFirst' in value;
}

function listedRow(row: RunRow): ListedRow {
  const { line, envelope } = row;
  const signers = envelope.signers.map(({ email, name, role, order }) => ({ email, name, role, order }));
  return { ...wantedRow(row), line, signers, askedFirst: addressesAskedFirst(envelope).length };
}

/** Returns a row that is sent whatever was sent before. Only its own ID, which no other run has, identifies it. */
function sentAgain(row: RunRow, draft: RunDraft | undefined): RunRow {
  if (row.identity === 'given') return row;
  const { sameAs: _, ...rest } = row;
  return { ...rest, identity: 'generated', requestId: `${draft?.id ?? 'run'}-${row.row}` };
}

/** What was created before for the rows of a list, by any command on any machine. */
export interface SentRows {
  known: KnownRows;
  look: KnownEnvelopes;
  /** What was read, as far as it concerns the people of the list. */
  history: AccountHistory;
  /** The unfinished runs on this machine with rows of the list. The new run continues them. */
  unfinished: readonly RunState[];
}

/** Compares the rows with their templates and with what was sent before. Adds problems to the report of the list. */
export async function findSentRows(
  list: CheckedList,
  request: BulkRequest,
  means: RunTools,
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
    const { look, history, unfinished } = await lookForList(list, means, context);
    const rows = [...look.found].map(([row, found]) => ({
      row,
      line: list.wanted.get(row)?.line ?? 0,
      found,
    }));
    const known = groupKnownRows(rows, list.repeated, request.mode);
    for (const row of known.other)
      report.problems.add({ line: row.line, column: 'request_id', text: differentContentMessage(row) });
    return { known, look, history, unfinished };
  } catch (error) {
    // The problems of the file can be fixed without the service.
    if (report.problems.count === 0) throw error;
    const look: KnownEnvelopes = { at: 0, found: new Map(), notBefore: 0 };
    const known = groupKnownRows([], list.repeated, request.mode);
    return { known, look, history: new AccountHistory([], 0), unfinished: [] };
  }
}

/** Longer lists are not compared with the account's history, which would take as much memory as sending them. */
const MAX_SECOND_LOOK = 20_000;

async function lookForList(
  { wanted }: CheckedList,
  means: RunTools,
  context: Context,
): Promise<Omit<SentRows, 'known'>> {
  const client = await means.client();
  const { signal } = context.interrupt;
  const { ids: remembered, unfinished } = await readRememberedRows(runsDir(), client, wanted, signal);
  const memory = await context.session.memory();
  const logged = await readLoggedCreates(client, memory, wanted.givenIds, signal);
  for (const [requestId, envelopeIds] of logged.envelopeIds) {
    const number = wanted.numberOf(requestId);
    if (number !== undefined) remembered.set(number, [...(remembered.get(number) ?? []), ...envelopeIds]);
  }
  const people =
    wanted.size > MAX_SECOND_LOOK ? [] : [...wanted.entries()].flatMap(([, { signers }]) => signers);
  const at = client.clock.now();
  const history = new AccountHistory(people, client.serviceClock.now());
  const onRead = (envelope: Envelope) => history.add(envelope);
  const { found, missing } = await context.terminal.waiting('Looking for what was already sent', () =>
    findRequests(client, wanted, { remembered, signal, onRead }),
  );
  const unconfirmed = missing.map((id) => logged.listedAtById.get(id) ?? 0);
  const interrupted = unfinished.some(mayHaveOpenRequests) ? at + MAX_LIST_LAG_MS : 0;
  const listedAt = Math.max(logged.listedAt, interrupted, ...unconfirmed);
  return { look: { at, found, notBefore: listedAt > at ? listedAt : 0 }, history, unfinished };
}

/** Returns true if the user sees a missing role as a warning and is asked before anything is sent. */
function canConfirm({ yes }: BulkRequest, terminal: CommandTerminal): boolean {
  return terminal.canAsk && !yes && !terminal.json;
}

/** What a new run does with the rows of a list. */
export interface NewRun {
  request: BulkRequest;
  list: CheckedList;
  sent: SentRows;
  /** What it does before it is paused (`--first`) or finished. */
  work: PlannedWork;
  /** The rows of this work, to compare them with the account's history; none of a long list. */
  rows: readonly ListedRow[];
  /** The last row that it works on before it is paused. */
  last: number;
  /** The number of rows that are not done yet, also after the last one. */
  left: number;
}

export function planRun(list: CheckedList, sent: SentRows, request: BulkRequest): NewRun {
  const { existing, ended, drafts } = sent.known;
  const done = new Set([...existing, ...ended].map(({ row }) => row));
  const withDraft = new Set(drafts.map(({ row }) => row));
  const tally = new WorkCounter(request.mode);
  const chosen: ListedRow[] = [];
  const emails: string[] = [];
  let left = 0;
  let last = list.report.rows;
  for (const [row, listed] of list.wanted.entries()) {
    for (const { email } of listed.signers) emails.push(email);
    if (done.has(row)) continue;
    left++;
    if (left === (request.first ?? Number.POSITIVE_INFINITY) + 1) last = row - 1;
    if (left > (request.first ?? left)) continue;
    tally.add(listed.signers, listed.askedFirst, withDraft.has(row));
    if (list.wanted.size <= MAX_SECOND_LOOK) chosen.push(listed);
  }
  return {
    request,
    list,
    sent,
    work: tally.total(emails),
    rows: chosen,
    last,
    left,
  };
}

/** A run that was started, and what was found for the rows that it works on. */
export interface StartedRun {
  run: OpenRun;
  look: KnownEnvelopes;
}

/** Stores the run. From then on, it can be resumed. Runs that it continues are ended. */
export function startRun(
  draft: RunDraft,
  { request, list, sent, last }: NewRun,
  means: RunTools,
  context: Context,
): Promise<StartedRun> {
  const { session, interrupt } = context;
  const { report, wanted } = list;
  return withStartLock(runsDir(), session.clock, async () => {
    const client = await means.client();
    const { unfinished } = await readRememberedRows(runsDir(), client, wanted, interrupt.signal);
    refuseOtherRuns(unfinished, sent.unfinished);
    await refuseBusyRuns(unfinished);
    const { profileName } = await session.settings();
    const head = {
      at: session.now(),
      file: report.name,
      total: report.rows,
      mode: request.mode,
      baseUrl: client.baseUrl,
      profile: profileName?.value ?? null,
      source: report.source,
    };
    const limit = { type: 'upTo', row: last, at: session.clock.now() } as const;
    const run = await draft.start(head, [
      ...(last < report.rows ? [limit] : []),
      ...journalEntriesOfKnownRows(sent.known),
    ]);
    await endContinuedRuns(unfinished, { by: draft.id, wanted }, client, context);
    // The others have a result.
    const { drafts, corrected } = sent.known;
    const found = new Map([...drafts, ...corrected].map(({ row, found: one }) => [row, one]));
    return { run, look: { ...sent.look, found } };
  });
}
