import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { markedEnvelopes, readIfExists } from '../../catalog/marked-envelopes.ts';
import { requestIdOf } from '../../catalog/markers.ts';
import { Batch } from '../../cli/batch.ts';
import { hasSameContent } from '../../envelopes/same-content.ts';
import { Limiter } from '../../kernel/async/limiter.ts';
import { timeOf } from '../../kernel/clock.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { PartialError, UsageError } from '../../kernel/errors.ts';
import { runsDir } from '../../kernel/files/paths.ts';
import { isTerminal, isVoid } from '../../kernel/vocabulary.ts';
import { contentOf, createKey } from '../../log/keys.ts';
import { type LoggedWrite, mayHaveCreated } from '../../log/logged-write.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import { relativeTime } from '../../output/time.ts';
import type { Context } from '../../session/context.ts';
import type { Mode } from '../entries.ts';
import {
  type EarlierRow,
  findEarlierRows,
  type IdentifiedRow,
  type NewRows,
} from '../lookup/earlier-rows.ts';
import { endedError, groupKnownRows, type KnownRows } from '../lookup/known-rows.ts';
import { EXISTING, type RowResult } from '../results.ts';
import type { FileReport } from '../rows/check-file.ts';
import { resumeCommand, rowInWords } from './preflight-text.ts';

/** Returns what the runs on this machine did for the rows of a file. */
export async function readEarlierRows(
  rows: NewRows,
  client: Client,
  { session, interrupt }: Context,
): Promise<Map<number, EarlierRow>> {
  const baseUrl = await session.baseUrl();
  const file = { newRows: rows, baseUrl };
  return findEarlierRows(runsDir(), client, file, interrupt.signal);
}

/** Returns what already exists for the rows, including what other commands did under their request IDs. */
export async function findKnownRows(
  mode: Mode,
  { rows, earlier }: { rows: NewRows; earlier: ReadonlyMap<number, EarlierRow> },
  client: Client,
  { session, interrupt }: Context,
): Promise<KnownRows> {
  const memory = await session.memory();
  return groupKnownRows(
    (await findIdentifiedRows(client, memory, rows, earlier, interrupt.signal)).values(),
    mode,
  );
}

/** Returns why a row is refused if its request ID was used for something else. */
export function otherText({ requestId, id, run }: EarlierRow): string {
  return `"${requestId ?? ''}" was used for ${id ?? run ?? 'an envelope'} with a different template, different signers, or a different text; use a new one`;
}

/** Refuses a file with rows of an unfinished run, since two runs of the same row would email its signers twice. */
export function refuseUnfinished({ unfinished }: KnownRows, { session, terminal }: Context): void {
  const [first] = unfinished;
  if (first === undefined) return;
  const when = relativeTime(new Date(first.at).toISOString(), session.clock.now());
  throw new UsageError(
    `${counted(unfinished.length, 'row')} in this file ${unfinished.length === 1 ? 'belongs' : 'belong'} to ${first.run ?? ''}, which started ${when} and has not finished.`,
    { run: first.run, hint: `Resume it: \`${resumeCommand(first.run ?? '', terminal)}\`.` },
  );
}

/** Shows how many rows are skipped, sent as existing drafts, or refused. */
export function reportKnown(known: KnownRows, { rows }: FileReport, context: Context): void {
  const { drafts, ended, existing } = known;
  const [sent] = existing;
  const [draft] = drafts;
  if (sent !== undefined) {
    const when = relativeTime(new Date(sent.at).toISOString(), context.session.clock.now());
    const how = sent.kind === 'draft' ? 'created' : 'sent';
    const isOneRun = sent.run !== undefined && existing.every(({ run }) => run === sent.run);
    const by = isOneRun ? ` by ${sent.run} ${when}` : '';
    const are = existing.length === 1 ? 'was' : 'were';
    context.terminal.notice(
      `${grouped(existing.length)} of ${counted(rows, 'row')} ${are} already ${how}${by} and will be skipped. To send rows without a request_id again, add --again.`,
    );
  }
  if (draft !== undefined)
    context.terminal.notice(
      `${counted(drafts.length, 'draft')}${draft.run === undefined ? '' : ` from ${draft.run}`} already ${drafts.length === 1 ? 'exists' : 'exist'} and will be sent.`,
    );
  if (ended.length > 0)
    context.terminal.notice(
      `${counted(ended.length, 'row')} will be refused: the request ID belongs to a canceled, declined, or expired envelope.`,
    );
}

/**
 * Reports the rows of a list in which nothing is left to send.
 * @throws PartialError when rows are refused.
 */
export async function reportNothingToDo(
  { existing, ended }: KnownRows,
  { name }: FileReport,
  context: Context,
): Promise<void> {
  const batch = new Batch(context);
  for (const known of [...existing, ...ended].toSorted((one, other) => one.row - other.row)) {
    const error = known.kind === 'ended' ? endedError(known) : null;
    const result: RowResult = {
      run: known.run ?? null,
      row: known.row,
      line: known.line,
      requestId: known.requestId ?? null,
      ok: error === null,
      envelopeId: known.id ?? null,
      status: error === null ? EXISTING : null,
      error,
    };
    await batch.report({ json: result, ...rowInWords(name, result, context.terminal) });
  }
  context.terminal.notice('Nothing is left to send.');
  if (ended.length > 0)
    throw new PartialError(`${counted(ended.length, 'row')} failed. The errors are shown above.`, {
      hint: 'Give each its own request ID.',
    });
}

/**
 * Adds to what the runs on this machine know of a file's rows: what any command on any machine did under their request IDs. Reads
 * this machine's records of the IDs, and makes one pass over the service's list.
 */
export async function findIdentifiedRows(
  client: Client,
  memory: WriteMemory,
  newRows: NewRows,
  earlier: ReadonlyMap<number, EarlierRow>,
  signal?: AbortSignal,
): Promise<Map<number, EarlierRow>> {
  const found = new Map(earlier);
  const rows = newRows.withRequestIds;
  if (rows.size === 0) return found;
  const listed = await listedFor(client, rows, signal);
  const logged = await loggedFor(client, memory, [...rows.keys()]);
  const limiter = new Limiter(READ_CONCURRENCY);
  const check = async (row: IdentifiedRow) => {
    const known = earlier.get(row.row);
    if (known?.kind === 'other' || known?.kind === 'unfinished') return;
    const facts = { listed: listed.get(row.requestId), isKnown: known !== undefined };
    const result = await stateOf(
      client,
      row,
      logged.get(createKey(client.baseUrl, row.requestId)),
      facts,
      signal,
    );
    // The list may show an old status.
    const isOutdated = result?.kind === 'draft' && known?.kind === 'sent';
    if (result === undefined || isOutdated) return;
    const { line, requestId, signers } = row;
    found.set(row.row, {
      row: row.row,
      line,
      requestId,
      signers,
      run: undefined,
      at: 0,
      ...known,
      ...result,
    });
  };
  await Promise.all([...rows.values()].map((row) => limiter.run(() => check(row))));
  return found;
}

/** Returns what the log knows of each request ID, by its key. */
async function loggedFor(
  client: Client,
  memory: WriteMemory,
  requestIds: readonly string[],
): Promise<Map<string, LoggedWrite>> {
  const writes = await memory.find(requestIds.map((id) => createKey(client.baseUrl, id)));
  const logged = new Map<string, LoggedWrite>();
  for (const write of writes) {
    const { key } = write.intent;
    if (key !== undefined && !logged.has(key) && mayHaveCreated(write)) logged.set(key, write);
  }
  return logged;
}

/** Returns the envelope that counts for each request ID, as the list shows it. */
async function listedFor(
  client: Client,
  rows: ReadonlyMap<string, IdentifiedRow>,
  signal?: AbortSignal,
): Promise<Map<string, Envelope>> {
  const listed = new Map<string, Envelope>();
  for await (const envelope of markedEnvelopes(client, { signal })) {
    const requestId = requestIdOf(envelope);
    if (requestId === undefined || !rows.has(requestId)) continue;
    const other = listed.get(requestId);
    if (other === undefined || precedes(envelope, other)) listed.set(requestId, envelope);
  }
  return listed;
}

/**
 * Returns true if one envelope takes precedence over the other: sent envelopes before drafts, and drafts before canceled drafts;
 * then the older one.
 */
function precedes(one: Envelope, other: Envelope): boolean {
  const rank = (envelope: Envelope) => (isVoid(envelope) ? 2 : envelope.status === 'DRAFT' ? 1 : 0);
  return (
    rank(one) - rank(other) < 0 ||
    (rank(one) === rank(other) && timeOf(one.createdAt) < timeOf(other.createdAt))
  );
}

type Result = Pick<EarlierRow, 'kind' | 'id' | 'status'>;

async function stateOf(
  client: Client,
  { use }: IdentifiedRow,
  write: LoggedWrite | undefined,
  { listed, isKnown }: { listed: Envelope | undefined; isKnown: boolean },
  signal?: AbortSignal,
): Promise<Result | undefined> {
  // The log proposes, the service confirms: nothing is skipped or refused before the envelope was seen.
  const recordedId = write?.state === 'done' ? write.envelopeIds[0] : undefined;
  const isRecorded = recordedId !== undefined;
  const isOther = isRecorded && write?.intent.content !== contentOf(use);
  if (listed !== undefined && !isOther && (isKnown || isRecorded)) return resultOf(listed);
  const id = listed?.id ?? (isKnown ? undefined : recordedId);
  // A list item may lack signers, and its template is not decisive.
  const envelope = id === undefined ? undefined : await readIfExists(client, id, signal);
  if (envelope === undefined) return undefined;
  const isSame = !isOther && (isRecorded || hasSameContent(envelope, use));
  return isSame ? resultOf(envelope) : { ...resultOf(envelope), kind: 'other' };
}

function resultOf({ id, status: shown }: Envelope): Result {
  const status = shown ?? 'SENT';
  if (status === 'DRAFT') return { kind: 'draft', id, status };
  return { kind: isTerminal(status) && status !== 'COMPLETED' ? 'ended' : 'sent', id, status };
}
