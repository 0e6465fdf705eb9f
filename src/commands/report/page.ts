import { counted, grouped } from '../../kernel/duration.ts';
import { htmlText } from '../../output/html.ts';
import { htmlPage } from '../../output/page.ts';
import { PAGE_STYLE } from '../../output/page-style.ts';
import { exactTime } from '../../output/time.ts';
import type { GroupBy } from '../../statistics/groups.ts';
import type { GroupFigures, StatisticsReport } from '../../statistics/report.ts';
import { agingChart, histogramChart, trendChart } from './charts.ts';
import { durationText, percentText } from './markdown.ts';
import { figurePairs, type ReportContent } from './view.ts';

/** Renders the report as a self-contained page without scripts, with light and dark styles, for screens and printers. */
export function reportPage({ report, details, now, by }: ReportContent): string {
  const { timesToComplete, openAges, weeks } = details;
  const isoNow = new Date(now).toISOString();
  const body = `<h1>${counted(report.sent, 'envelope')} sent</h1>
<p>${rangeText(report)} As of <time datetime="${isoNow}">${exactTime(isoNow)}</time>.</p>
<dl>${figurePairs(report)
    .map(([label, text]) => `<div><dt>${htmlText(label)}</dt><dd>${htmlText(text)}</dd></div>`)
    .join('')}</dl>
<section><h2>Weekly trend</h2>${trendChart(weeks)}</section>
<section><h2>Time to complete</h2>${histogramChart(timesToComplete)}</section>
<section><h2>Age of open envelopes</h2>${agingChart(openAges, report.toComplete)}</section>
${groupTable(report, by)}
${reasonTable(report)}`;
  return htmlPage({ title: 'Envelope report', style: PAGE_STYLE, body });
}

function rangeText({ since, until }: StatisticsReport): string {
  const end = exactTime(until);
  return since === null ? `Created until ${end}.` : `Created from ${exactTime(since)} to ${end}.`;
}

const HEADERS = ['Sent', 'Completed', 'Declined', 'Expired', 'Canceled', 'Open', 'Completion rate'];
const TIMES = ['Median', '85%', '95%', 'Turn median', 'Turn 85%', 'Turn 95%'];

function groupTable({ groups }: StatisticsReport, by: GroupBy | undefined): string {
  if (by === undefined) return '';
  const title = by.kind === 'meta' ? by.metadataKey : by.kind;
  const heads = [title, ...HEADERS, ...TIMES].map((head) => `<th scope="col">${htmlText(head)}</th>`);
  const rows = groups.map((group) => `<tr>${groupCells(group)}</tr>`);
  return `<section class="wide"><h2>By ${htmlText(title)}</h2><table><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}

function groupCells(group: GroupFigures): string {
  const { sent, completed, declined, expired, cancelled, open, completionRate, toComplete, turn } = group;
  const times = [toComplete, turn].flatMap(({ medianMs, p85Ms, p95Ms }) => [medianMs, p85Ms, p95Ms]);
  const cells = [
    ...[sent, completed, declined, expired, cancelled, open].map(grouped),
    percentText(completionRate),
    ...times.map(durationText),
  ];
  const name = htmlText(group.name ?? '(none)');
  return `<th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}`;
}

function reasonTable({ declineReasons }: StatisticsReport): string {
  if (declineReasons.length === 0) return '';
  const rows = declineReasons.map(
    ({ reason, count }) =>
      `<tr><th scope="row">${htmlText(reason ?? '(no reason)')}</th><td>${grouped(count)}</td></tr>`,
  );
  return `<section><h2>Decline reasons</h2><table><thead><tr><th scope="col">Reason</th><th scope="col">Envelopes</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}
