import { durationInWords } from '../../kernel/duration.ts';
import { htmlText } from '../../output/html.ts';
import type { GroupFigures, StatisticsReport } from '../../statistics/report.ts';
import type { Figures } from '../../statistics/tally.ts';

const HEADERS = [
  ...['Group', 'Sent', 'Completed', 'Declined', 'Expired', 'Canceled', 'Open', 'Completion rate'],
  ...['Median', '85%', '95%'],
];

/** Renders the groups as a Markdown table, with the total in the last row. */
export function markdownTable(groups: readonly GroupFigures[], total: StatisticsReport): string {
  const rows = groups.map((group) => rowOf(group.name ?? '(none)', group));
  if (groups.length !== 1 || groups[0]?.sent !== total.sent) rows.push(rowOf('Total', total));
  const rule = HEADERS.map((_, index) => (index === 0 ? '---' : '--:'));
  return [HEADERS, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function rowOf(name: string, figures: Figures): string[] {
  const { sent, completed, declined, expired, cancelled, open, completionRate, toComplete } = figures;
  const counts = [sent, completed, declined, expired, cancelled, open].map(String);
  const times = [toComplete.medianMs, toComplete.p85Ms, toComplete.p95Ms].map(durationText);
  return [cellText(name), ...counts, percentText(completionRate), ...times];
}

/** Escapes untrusted text so that it contains no Markdown or HTML markup. */
function cellText(text: string): string {
  return htmlText(text.replace(/[\\`*_{}[\]()#|!~$]/g, String.raw`\$&`));
}

/** Formats a share (0–1) as a percentage, and null as a dash. */
export function percentText(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`;
}

/** Formats a duration in words, and null as a dash. */
export function durationText(ms: number | null): string {
  return ms === null ? '–' : durationInWords(ms);
}
