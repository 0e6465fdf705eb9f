import { Batch } from '../../../cli/batch.ts';
import type { Context } from '../../../cli/session/context.ts';
import { counted, grouped, listed } from '../../../kernel/duration.ts';
import { PartialError } from '../../../kernel/errors.ts';
import { hasEnded } from '../../../kernel/statuses.ts';
import type { WordingField } from '../../../once/wording.ts';
import { relativeTime } from '../../../output/time.ts';
import type { RowError } from '../../../runs/journal-entries.ts';
import { EXISTING_STATUS, type RowResult } from '../../../runs/results.ts';
import { changedLines, type KnownRow, type KnownRows, rowErrorOf } from '../../known-rows.ts';
import { reportedRow } from '../row-text.ts';
import type { NewRun, SentRows } from './new-run.ts';

type SentRowsLines = [label: string, text: string][];

/** How many lines are named in a sentence. */
const MAX_LINES = 5;
const FIELDS: Readonly<Record<WordingField, string>> = {
  name: 'name',
  message: 'message',
  expiry: 'expiration',
  signingOrder: 'signing order',
  webhookUrl: 'webhook URL',
};

/** Returns how many rows are skipped, sent as existing drafts, or refused, and which runs are continued, with a label for each. */
export function sentRowsInWords({ known, unfinished }: SentRows, context: Context): SentRowsLines {
  const { existing, repeated, drafts, corrected, ended } = known;
  const lines: SentRowsLines = [];
  if (existing.length > 0) lines.push(['Skipped', skippedInWords(existing, context)]);
  const changed = changedLines(known);
  if (changed.length > 0) {
    const fields = [...new Set(changed.flatMap((one) => one.changed))].map((field) => FIELDS[field]);
    const differ = fields.length === 1 ? 'differs' : 'differ';
    const [first] = changed;
    const replace = context.terminal.command('envelopes', 'replace', first?.envelopeId ?? '');
    const where = changed.length === 1 ? '' : ` for line ${first?.line}`;
    lines.push([
      'Changed',
      `${linesInWords(changed)}: the ${listed(fields)} ${differ} from what was sent; to send a correction, use \`${replace}\`${where}`,
    ]);
  }
  if (repeated.length > 0)
    lines.push(['Repeated', `${linesInWords(repeated)}: the same as an earlier line, and sent once`]);
  if (drafts.length > 0)
    lines.push([
      'Drafts',
      `${grouped(drafts.length)} from earlier, which will be sent and not created again`,
    ]);
  if (corrected.length > 0)
    lines.push([
      'Corrected',
      `${linesInWords(corrected)}: the earlier draft is canceled, and a new one is created`,
    ]);
  if (ended.length > 0)
    lines.push([
      'Refused',
      `${counted(ended.length, 'row')}, because the request ID belongs to a canceled, declined, or expired envelope`,
    ]);
  for (const { head } of unfinished) lines.push(['Continues', `${head.id}, which then ends`]);
  return lines;
}

function skippedInWords(existing: readonly KnownRow[], { session }: Context): string {
  const [first] = existing;
  const isDraft = first?.found.envelope.status === 'DRAFT';
  const run = first?.found.run;
  const isOneRun = run !== undefined && existing.every(({ found }) => found.run === run);
  const at = first?.found.envelope.sentAt ?? first?.found.envelope.createdAt;
  const by = isOneRun ? ` by ${run}${at ? ` ${relativeTime(at, session.now())}` : ''}` : '';
  const ended = existing.filter(({ found }) => hasEnded(found.envelope)).length;
  const since = ended > 0 ? `, of which ${grouped(ended)} ended without being signed` : '';
  return `${counted(existing.length, 'row')} already ${isDraft ? 'created' : 'sent'}${by}${since}`;
}

/** Returns `lines 4, 9, and 12`. */
function linesInWords(rows: readonly { line: number }[]): string {
  const shown = rows.slice(0, MAX_LINES).map(({ line }) => String(line));
  const more = rows.length > shown.length ? ` and ${grouped(rows.length - shown.length)} more` : '';
  return `${rows.length === 1 ? 'line' : 'lines'} ${shown.join(', ')}${more}`;
}

/**
 * Reports the rows of a list in which nothing is left to send.
 * @throws PartialError when rows are refused.
 */
export async function reportNothingToDo(run: NewRun, context: Context): Promise<void> {
  const { list, sent } = run;
  const { existing, ended } = sent.known;
  const { terminal } = context;
  const batch = new Batch(context);
  for (const result of resultsOfKnown(sent.known))
    await batch.report({ json: result, ...reportedRow(list.report.name, result, terminal) });
  const [skipped] = existing.length > 0 ? sentRowsInWords(sent, context) : [];
  terminal.notice(
    skipped === undefined
      ? 'The list has no rows to send. Nothing was sent.'
      : `${skipped[1]}. Nothing is left to send.`,
  );
  for (const [label, text] of sentRowsInWords(sent, context).slice(existing.length > 0 ? 1 : 0))
    if (label === 'Changed' || label === 'Repeated') terminal.notice(`${label}: ${text}.`);
  if (ended.length > 0)
    throw new PartialError(`${counted(ended.length, 'row')} failed. The errors are shown above.`, {
      hint: 'Give each its own request ID.',
    });
}

/** Returns the results of the rows that a run doesn't work on, in their order. */
function resultsOfKnown({ existing, repeated, ended }: KnownRows): RowResult[] {
  const same = repeated.map(
    ({ row, line, sameAs, requestId }): RowResult => ({
      run: null,
      row,
      line,
      requestId,
      ok: true,
      envelopeId: null,
      status: EXISTING_STATUS,
      error: null,
      sameAs,
    }),
  );
  const results = [
    ...existing.map((one) => resultOfKnown(one, null)),
    ...ended.map((one) => resultOfKnown(one, rowErrorOf(one))),
    ...same,
  ];
  return results.toSorted((one, other) => one.row - other.row);
}

function resultOfKnown({ row, line, found }: KnownRow, error: RowError | null): RowResult {
  const { request, envelope, run, changed } = found;
  return {
    run: run ?? null,
    row,
    line,
    requestId: request.requestId,
    ok: error === null,
    envelopeId: envelope.id,
    status: error === null ? EXISTING_STATUS : null,
    error,
    ...(changed.length > 0 ? { changed } : {}),
  };
}
