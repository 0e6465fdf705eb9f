import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { markedEnvelopes, readIfExists } from '../../catalog/list.ts';
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
import { findIdentifiedRows } from '../lookup/identified-rows.ts';
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
    { hint: `Resume it: \`${resumeCommand(first.run ?? '', terminal)}\`.` },
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
