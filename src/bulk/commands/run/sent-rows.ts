import { Batch } from '../../../cli/batch.ts';
import { counted, grouped } from '../../../kernel/duration.ts';
import { PartialError, UsageError } from '../../../kernel/errors.ts';
import { relativeTime } from '../../../output/time.ts';
import type { Context } from '../../../session/context.ts';
import type { EarlierRow } from '../../lookup/earlier-rows.ts';
import { endedError, type KnownRows } from '../../lookup/known-rows.ts';
import { EXISTING, type RowResult } from '../../results.ts';
import { rowInWords } from '../row-text.ts';
import type { NewRun } from './new-run.ts';
import { resumeCommand } from './next-commands.ts';

/** Refuses a file with rows of an unfinished run, since two runs of the same row would email its signers twice. */
export function refuseUnfinished({ existing, unfinished }: KnownRows, context: Context): void {
  const [first] = unfinished;
  if (first === undefined) return;
  const { length } = existing;
  const sent = length > 0 ? `${counted(length, 'row')} ${length === 1 ? 'was' : 'were'} already sent. ` : '';
  throw new UsageError(
    `${sent}${counted(unfinished.length, 'row')} ${unfinished.length === 1 ? 'belongs' : 'belong'} to ${first.run ?? ''}, which started ${whenOf(first, context)} and has not finished. Nothing more was sent.`,
    { run: first.run, hint: `Resume it: \`${resumeCommand(first.run ?? '', context.terminal)}\`.` },
  );
}

/** Returns how many rows are skipped, sent as existing drafts, or refused, with a label for each. */
export function sentRowsInWords(
  { existing, drafts, ended }: KnownRows,
  context: Context,
): [label: string, text: string][] {
  const lines: [string, string][] = [];
  const [sent] = existing;
  if (sent !== undefined) {
    const how = `already ${sent.kind === 'draft' ? 'created' : 'sent'}`;
    const isOneRun = sent.run !== undefined && existing.every(({ run }) => run === sent.run);
    const by = isOneRun ? ` by ${sent.run} ${whenOf(sent, context)}` : '';
    lines.push(['Skipped', `${counted(existing.length, 'row')} ${how}${by}`]);
  }
  if (drafts.length > 0)
    lines.push([
      'Drafts',
      `${grouped(drafts.length)} from earlier, which will be sent and not created again`,
    ]);
  if (ended.length > 0)
    lines.push([
      'Refused',
      `${counted(ended.length, 'row')}, because the request ID belongs to a canceled, declined, or expired envelope`,
    ]);
  return lines;
}

function whenOf({ at }: EarlierRow, { session }: Context): string {
  return relativeTime(new Date(at).toISOString(), session.now());
}

/**
 * Reports the rows of a list in which nothing is left to send.
 * @throws PartialError when rows are refused.
 */
export async function reportNothingToDo({ list, sent }: NewRun, context: Context): Promise<void> {
  const { existing, ended } = sent.known;
  const { terminal } = context;
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
    await batch.report({ json: result, ...rowInWords(list.report.name, result, terminal) });
  }
  const [skipped] = sentRowsInWords({ ...sent.known, ended: [] }, context);
  terminal.notice(
    skipped === undefined
      ? 'The list has no rows. Nothing was sent.'
      : `${skipped[1]}. Nothing is left to send.`,
  );
  if (ended.length > 0)
    throw new PartialError(`${counted(ended.length, 'row')} failed. The errors are shown above.`, {
      hint: 'Give each its own request ID.',
    });
}
