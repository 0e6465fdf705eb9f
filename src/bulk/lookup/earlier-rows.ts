import { stat } from 'node:fs/promises';
import type { Client } from '../../api/client.ts';
import { readIfExists } from '../../catalog/envelope-list.ts';
import { readLine } from '../../journal/line.ts';
import { linesOf } from '../../journal/lines.ts';
import { UsageError } from '../../kernel/errors.ts';
import { ifExists } from '../../kernel/files/regular-file.ts';
import type { RequestContent } from '../../log/keys.ts';
import { RUN_FORMAT, type RunEntry, type RunHead } from '../entries.ts';
import { RETENTION_MS } from '../failed-rows.ts';
import type { BulkRow } from '../rows/row.ts';
import type { RunState } from '../run-state.ts';
import { filesOf, readRun, runIds } from '../runs.ts';

/** An earlier result for a row of a new file. */
export interface EarlierRow {
  row: number;
  /** The line in the new file. */
  line: number;
  requestId: string | undefined;
  /** The run on this machine that created it, and when that run was created (ms since the epoch). */
  run: string | undefined;
  at: number;
  /**
   * `sent`: its signers have been emailed. `draft`: a draft exists. `unfinished`: the earlier run has not processed it yet or
   * does not know the outcome. `other`: its request ID was used for something else. `ended`: nobody can sign the envelope of its
   * request ID anymore, and it is not completed.
   */
  kind: 'sent' | 'draft' | 'unfinished' | 'other' | 'ended';
  id: string | undefined;
  status: string | undefined;
}

interface NewRow {
  row: number;
  line: number;
  content: string;
  requestId: string | undefined;
}

/** A row with its own request ID, and the content that it uses the ID for. */
export type IdentifiedRow = NewRow & { requestId: string; use: RequestContent };

/** The rows of a new file, by content and by request ID, to match them with the rows of earlier runs. */
export class NewRows {
  readonly #byContent = new Map<string, NewRow>();
  readonly #byRequestId = new Map<string, IdentifiedRow>();
  readonly #again: boolean;

  /** With `again`, only request IDs count, since the same content is to be sent again. */
  constructor(again: boolean) {
    this.#again = again;
  }

  add({ row, line, content, requestId, envelope }: BulkRow): void {
    const added = { row, line, content, requestId };
    if (requestId !== undefined)
      this.#byRequestId.set(requestId, {
        ...added,
        requestId,
        use: { templateId: envelope.templateId, signers: envelope.signers },
      });
    if (this.#again) return;
    // Of the rows with the same content, only one has no request ID, which would identify it.
    if (requestId === undefined || !this.#byContent.has(content)) this.#byContent.set(content, added);
  }

  /** Returns the row that matches an earlier one. Two different request IDs mean two envelopes, even with the same content. */
  find(content: string, requestId: string | null): { newRow: NewRow; isSame: boolean } | undefined {
    const named = requestId === null ? undefined : this.#byRequestId.get(requestId);
    if (named !== undefined) return { newRow: named, isSame: named.content === content };
    const newRow = this.#byContent.get(content);
    const isOtherRequestId = requestId !== null && newRow?.requestId !== undefined;
    return newRow === undefined || isOtherRequestId ? undefined : { newRow, isSame: true };
  }

  get withRequestIds(): ReadonlyMap<string, IdentifiedRow> {
    return this.#byRequestId;
  }
}

const WEIGHT = { other: 4, ended: 3, sent: 2, unfinished: 1, draft: 0 } as const;

/**
 * Returns the results of the runs that sent something in the last 30 days for the rows of a new file, by row. Excludes runs at another base
 * URL, and runs whose envelopes the key can't access.
 */
export async function findEarlierRows(
  root: string,
  client: Client,
  newRows: NewRows,
  signal?: AbortSignal,
): Promise<Map<number, EarlierRow>> {
  const found = new Map<number, EarlierRow>();
  const now = client.serviceClock.now();
  for (const id of await runIds(root)) {
    const run = await keysOf(root, id, newRows, { baseUrl: client.baseUrl, since: now - RETENTION_MS });
    if (run === undefined || run.matches.length === 0) continue;
    const state = await readRun(root, id);
    const rows = earlierRowsOf(run, state);
    if (rows.length === 0 || !(await canReadEnvelopes(state, client, signal))) continue;
    for (const row of rows) {
      const known = found.get(row.row);
      // Among equal ones, the newest run decides.
      if (known === undefined || WEIGHT[row.kind] > WEIGHT[known.kind]) found.set(row.row, row);
    }
  }
  return found;
}

interface Matches {
  head: RunHead;
  matches: { earlier: number; newRow: NewRow; isSame: boolean }[];
}

/**
 * Returns the rows of a run that match rows of the file, without reading their outcome. Of runs at another base URL, and of those that
 * have not sent anything for 30 days, reads only the head.
 */
async function keysOf(
  root: string,
  id: string,
  newRows: NewRows,
  { baseUrl, since }: { baseUrl: string; since: number },
): Promise<Matches | undefined> {
  let found: Matches | undefined;
  for await (const entry of rowKeysOf(root, id)) {
    if (entry.type === 'run') {
      if (entry.baseUrl !== baseUrl) return undefined;
      if (entry.at < since && !(await hasChangedSince(filesOf(root, id).journal, since))) return undefined;
      found = { head: entry, matches: [] };
    } else found?.matches.push(...matchesIn(entry, newRows));
  }
  return found;
}

/** A run that was started long ago may have been resumed since (`--first`). */
async function hasChangedSince(journal: string, since: number): Promise<boolean> {
  const facts = await ifExists(stat(journal));
  return facts !== undefined && facts.mtimeMs >= since;
}

type Keys = Extract<RunEntry, { type: 'rows' }>;

function matchesIn({ from, rows }: Keys, newRows: NewRows): Matches['matches'] {
  return rows.flatMap(([, content, , requestId], index) => {
    const match = newRows.find(content, requestId);
    return match === undefined ? [] : { earlier: from + index, ...match };
  });
}

/** Yields the head of a journal and the keys of its rows. */
export async function* rowKeysOf(root: string, id: string): AsyncGenerator<RunHead | Keys, void, undefined> {
  let hasHead = false;
  for await (const { bytes } of linesOf(filesOf(root, id).journal)) {
    const entry = RUN_FORMAT.read(readLine(bytes));
    if (entry?.type === 'run' || entry?.type === 'rows') yield entry;
    else if (hasHead) return;
    hasHead ||= entry?.type === 'run';
  }
}

function earlierRowsOf({ head, matches }: Matches, state: RunState): EarlierRow[] {
  return matches.flatMap(({ earlier, newRow, isSame }) => {
    const kind = kindOf(earlier, state);
    if (kind === undefined) return [];
    return {
      row: newRow.row,
      line: newRow.line,
      requestId: newRow.requestId,
      run: head.id,
      at: head.at,
      kind: isSame ? kind : 'other',
      id: state.idOf(earlier),
      status: state.statusOf(earlier),
    };
  });
}

/** Returns the kind of an earlier row, or undefined if its run created nothing at the service. */
function kindOf(row: number, state: RunState): EarlierRow['kind'] | undefined {
  const id = state.idOf(row);
  switch (state.of(row)) {
    case 'existing':
      return state.statusOf(row) === 'DRAFT' ? 'draft' : 'sent';
    case 'done':
      return state.statusOf(row) === 'DRAFT' ? 'draft' : 'sent';
    case 'failed':
      return id === undefined ? undefined : 'draft';
    default:
      if (state.finishedAt !== undefined) return undefined;
      // A run that was ended may have left drafts, or canceled them.
      if (state.endedAt !== undefined) return id === undefined ? undefined : 'draft';
      // This includes drafts: until its run has searched the list, another envelope of the row may have been sent.
      return 'unfinished';
  }
}

/** The maximum number of a run's envelopes that are read, because some of them may have been deleted. */
const SAMPLES = 4;

/**
 * Returns true if the key can read one of a few envelopes that are spread over the run, including the first and the last, or if
 * the run has none. It can't if it belongs to another organization, or the envelopes to a sandbox that was reset.
 */
async function canReadEnvelopes(state: RunState, client: Client, signal?: AbortSignal): Promise<boolean> {
  const ids = [...state.envelopeIds()];
  const interval = Math.ceil(ids.length / (SAMPLES - 1));
  const samples = ids.filter((_, index) => index % interval === 0 || index === ids.length - 1);
  for (const sample of samples) if (await readIfExists(client, sample, signal)) return true;
  return ids.length === 0;
}

/** Refuses a key of another organization: it would find none of the run's envelopes, so all of them would be created again. */
export async function requireSameOrganization(
  state: RunState,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  if (await canReadEnvelopes(state, client, signal)) return;
  const [envelopeId = ''] = state.envelopeIds();
  throw new UsageError(`This key can't access ${envelopeId}, which ${state.head.id} created.`, {
    run: state.head.id,
    hint: 'Use a key from the same organization: `esign profiles list`.',
  });
}
