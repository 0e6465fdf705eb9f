import type { Client } from '../../api/client.ts';
import type { Mode } from '../../bulk/entries.ts';
import { type EarlierRow, findEarlierRows, type NewRows } from '../../bulk/lookup/earlier-rows.ts';
import { findIdentifiedRows } from '../../bulk/lookup/identified-rows.ts';
import { type KnownRows, sortKnown } from '../../bulk/lookup/known-rows.ts';
import { SKIPPED } from '../../bulk/results.ts';
import type { FileReport } from '../../bulk/rows/check-file.ts';
import type { Context } from '../../cli/context.ts';
import type { Session } from '../../cli/session.ts';
import { requestIdsIn } from '../../envelopes/request-ids/request-ids.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { runsDir, stateDir } from '../../kernel/files/paths.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { relativeTime } from '../../output/time.ts';

/** Returns what the runs on this machine did for the rows of a file. */
export async function readEarlierRows(
  { report, rows }: { report: Pick<FileReport, 'fingerprint'>; rows: NewRows },
  client: Client,
  { session, interrupt }: Context,
): Promise<Map<number, EarlierRow>> {
  const baseUrl = (await session.settings()).baseUrl?.value ?? '';
  const file = { newRows: rows, fingerprint: report.fingerprint, baseUrl };
  return findEarlierRows(runsDir(), client, file, interrupt.signal);
}

/** Returns what already exists for the rows, including what other commands did under their request IDs. */
export async function findKnownRows(
  mode: Mode,
  { rows, earlier }: { rows: NewRows; earlier: ReadonlyMap<number, EarlierRow> },
  client: Client,
  { interrupt }: Context,
): Promise<KnownRows> {
  const ids = requestIdsIn(stateDir(), client);
  return sortKnown((await findIdentifiedRows(client, ids, rows, earlier, interrupt.signal)).values(), mode);
}

/** Returns why a row is refused if its request ID was used for something else. */
export function otherText({ requestId, id, run }: EarlierRow): string {
  return `"${requestId ?? ''}" was used for ${id ?? run ?? 'an envelope'} with a different template, different signers, or a different text; use a new one`;
}

/** Refuses a file with rows of an unfinished run, since two runs of the same row would email its signers twice. */
export function refuseUnfinished({ unfinished }: KnownRows, session: Session): void {
  const [first] = unfinished;
  if (first === undefined) return;
  const when = relativeTime(new Date(first.at).toISOString(), session.clock.now());
  const anyway = unfinished.some(({ requestId }) => requestId !== undefined)
    ? ''
    : ' To send them anyway, add --again.';
  throw new UsageError(
    `${counted(unfinished.length, 'row')} in this file ${unfinished.length === 1 ? 'belongs' : 'belong'} to ${first.run ?? ''}, which started ${when} and has not finished.`,
    { hint: `Resume it: \`${command('bulk', 'resume', first.run ?? '--last')}\`.${anyway}` },
  );
}

/** Shows how many rows are skipped, sent as existing drafts, or refused. */
export function reportKnown(known: KnownRows, { rows }: FileReport, context: Context): void {
  const { drafts, ended } = known;
  const existing = known.existing.filter(({ status }) => status !== SKIPPED);
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
