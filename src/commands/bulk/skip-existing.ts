import type { EarlierRow } from '../../bulk/lookup/earlier-rows.ts';
import type { KnownRows } from '../../bulk/lookup/known-rows.ts';
import { SKIPPED } from '../../bulk/results.ts';
import type { FileReport } from '../../bulk/rows/check-file.ts';
import type { BulkRow } from '../../bulk/rows/row.ts';
import type { Context } from '../../cli/context.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { collectRoster } from './roster/collect.ts';

/** The signers of a row. */
export interface RowSigners extends Pick<BulkRow, 'row' | 'line' | 'requestId'> {
  templateId: string;
  emails: readonly string[];
}

export function rowSignersOf({ row, line, requestId, envelope }: BulkRow): RowSigners {
  const { templateId, signers } = envelope;
  return { row, line, requestId, templateId, emails: signers.map(({ email }) => email) };
}

/**
 * Marks rows as skipped if all of their signers have signed the template or can still sign it, also rows that an earlier run has
 * sent, and reports the number of these rows.
 */
export async function skipCovered(
  people: readonly RowSigners[],
  known: KnownRows,
  { rows, templates }: FileReport,
  context: Context,
): Promise<void> {
  const roster = await collectRoster(templates.keys(), undefined, context);
  const ended = new Set(known.ended.map(({ row }) => row));
  const covered = new Map<number, EarlierRow>();
  for (const { row, line, requestId, templateId, emails } of people) {
    const found = ended.has(row) ? undefined : roster.findCovered(templateId, emails);
    if (found?.envelopeId == null) continue;
    const at = context.session.clock.now();
    covered.set(row, {
      row,
      line,
      requestId,
      at,
      signers: emails.length,
      run: undefined,
      kind: 'sent',
      id: found.envelopeId,
      status: SKIPPED,
    });
  }
  known.drafts = known.drafts.filter(({ row }) => !covered.has(row));
  known.existing = [...known.existing.filter(({ row }) => !covered.has(row)), ...covered.values()];
  if (covered.size === 0) return;
  const are = covered.size === 1 ? 'is' : 'are';
  context.terminal.notice(
    `${grouped(covered.size)} of ${counted(rows, 'row')} ${are} already signed or waiting, and will be skipped.`,
  );
}
