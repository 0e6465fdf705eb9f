import { counted, grouped } from '../../kernel/duration.ts';
import { exactTime } from '../../output/time.ts';
import { factList } from '../../pages/components.ts';
import { type Content, type Html, html } from '../../pages/html.ts';
import { selfContainedPage } from '../../pages/layout.ts';
import type { GroupBy } from '../groups.ts';
import type { GroupFigures, StatisticsReport, WeekFigures } from '../summarize.ts';
import { durationText, percentText } from './figure-text.ts';
import { type AttentionWithCommands, attentionItems } from './report-attention.ts';
import { figurePairs, type ReportContent } from './report-text.ts';

/** Renders the report as a self-contained page without scripts, with light and dark styles, for screens and printers. */
export function reportPage({ report, weeks, now, by, account }: ReportContent): Promise<string> {
  const isoNow = new Date(now).toISOString();
  const name = account === '' ? 'Envelopes' : `Envelopes of ${account}`;
  const body = html`<h1>${name}</h1>
<p>${counted(report.sent, 'envelope')} sent. ${rangeText(report)} As of <time datetime="${isoNow}">${exactTime(isoNow)}</time>.</p>
${attentionTable(report.attention)}
<section><h2>Figures</h2>${factList(figurePairs(report, now))}</section>
<section><h2>Weekly trend</h2>${trendChart(weeks)}</section>
${groupTable(report, by)}
${reasonTable(report)}`;
  return selfContainedPage({ title: `Report: ${name}`, look: 'printed report', body }, 'report.css');
}

function rangeText({ since, until }: StatisticsReport): string {
  const end = exactTime(until);
  return since === null ? `Created until ${end}.` : `Created from ${exactTime(since)} to ${end}.`;
}

/** Returns a section with a table whose first cells name the rows, or nothing without rows. */
function tableSection(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly Content[])[],
): Content {
  if (rows.length === 0) return '';
  const row = ([name, ...cells]: readonly Content[]) =>
    html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
  return html`<section class="wide"><h2>${title}</h2><table>
${heads.length > 0 && html`<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>`}
<tbody>${rows.map(row)}</tbody></table></section>`;
}

function attentionTable(kinds: AttentionWithCommands): Content {
  const rows = attentionItems(kinds).map(({ countText, facts }) => [
    countText,
    html`<code>${facts.next}</code>`,
  ]);
  return tableSection('Needs attention', [], rows);
}

const HEADERS = ['Sent', 'Completed', 'Declined', 'Expired', 'Canceled', 'Open', 'Completion rate'];
const TIMES = ['Median', '85%', '95%', 'Turn median', 'Turn 85%', 'Turn 95%'];

function groupTable({ groups }: StatisticsReport, by: GroupBy | undefined): Content {
  if (by === undefined) return '';
  const title = by.kind === 'meta' ? by.metadataKey : by.kind;
  return tableSection(`By ${title}`, [title, ...HEADERS, ...TIMES], groups.map(groupCells));
}

function groupCells(group: GroupFigures): string[] {
  const { name, sent, completed, declined, expired, cancelled, open, completionRate, toComplete, turn } =
    group;
  const times = [toComplete, turn].flatMap(({ medianMs, p85Ms, p95Ms }) => [medianMs, p85Ms, p95Ms]);
  return [
    name ?? '(none)',
    ...[sent, completed, declined, expired, cancelled, open].map(grouped),
    percentText(completionRate),
    ...times.map(durationText),
  ];
}

function reasonTable({ declineReasons }: StatisticsReport): Content {
  const rows = declineReasons.map(({ reason, count }) => [reason ?? '(no reason)', grouped(count)]);
  return tableSection('Decline reasons', ['Reason', 'Envelopes'], rows);
}

const WIDTH = 760;
const ROW = 26;
const LABEL = 110;
/** The width reserved for the figures after a bar. */
const FIGURES = 170;
const MAX_BAR_WIDTH = WIDTH - LABEL - FIGURES;

/** Draws how many envelopes were sent and completed in each week. */
function trendChart(weeks: readonly WeekFigures[]): Html {
  if (weeks.length === 0) return html`<p>Nothing was sent.</p>`;
  const max = Math.max(1, ...weeks.flatMap(({ sent, completed }) => [sent, completed]));
  const widthOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / max) * MAX_BAR_WIDTH));
  const rows = weeks.map(({ week, sent, completed }, index) => {
    const y = index * ROW;
    const end = LABEL + Math.max(widthOf(sent), widthOf(completed)) + 8;
    return html`<text x="0" y="${y + 18}">${week}</text>
<rect class="sent" x="${LABEL}" y="${y + 3}" width="${widthOf(sent)}" height="9" rx="2"/>
<rect class="done" x="${LABEL}" y="${y + 13}" width="${widthOf(completed)}" height="9" rx="2"/>
<text x="${end}" y="${y + 18}">${grouped(sent)} sent, ${grouped(completed)} completed</text>`;
  });
  return html`<p><span class="key sent"></span>sent<span class="key done"></span>completed</p>
<svg viewBox="0 0 ${WIDTH} ${weeks.length * ROW}">${rows}</svg>`;
}
