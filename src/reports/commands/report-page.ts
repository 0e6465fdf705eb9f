import { counted, DAY_MS, grouped } from '../../kernel/duration.ts';
import { exactTime } from '../../output/time.ts';
import { type Content, type Html, html } from '../../pages/html.ts';
import { selfContainedPage } from '../../pages/layout.ts';
import { facts } from '../../pages/pieces.ts';
import { distributionOf } from '../distribution.ts';
import type { GroupBy } from '../groups.ts';
import type { GroupFigures, StatisticsReport, WeekFigures } from '../summarize.ts';
import type { Spread } from '../tally.ts';
import { ATTENTION_TITLES, type AttentionWithCommands } from './report-attention.ts';
import { durationText, percentText } from './report-figures.ts';
import { figurePairs, type ReportContent } from './report-text.ts';

/** Renders the report as a self-contained page without scripts, with light and dark styles, for screens and printers. */
export function reportPage({ report, details, now, by, account }: ReportContent): Promise<string> {
  const { timesToComplete, openAges, weeks } = details;
  const isoNow = new Date(now).toISOString();
  const name = account === '' ? 'Envelopes' : `Envelopes of ${account}`;
  const body = html`<h1>${name}</h1>
<p>${counted(report.sent, 'envelope')} sent. ${rangeText(report)} As of <time datetime="${isoNow}">${exactTime(isoNow)}</time>.</p>
${facts(figurePairs(report))}
${attentionTable(report.attention)}
<section><h2>Weekly trend</h2>${trendChart(weeks)}</section>
<section><h2>Time to complete</h2>${histogramChart(timesToComplete)}</section>
<section><h2>Age of open envelopes</h2>${agingChart(openAges, report.toComplete)}</section>
${groupTable(report, by)}
${reasonTable(report)}`;
  return selfContainedPage({ title: `Report: ${name}`, look: 'printed report', body });
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
  const found = ATTENTION_TITLES.filter(([kind]) => kinds[kind].count > 0);
  const rows = found.map(([kind, title]) => {
    const { count, next } = kinds[kind];
    return [`${grouped(count)} ${title}`, html`<code>${next}</code>`];
  });
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
const MAX_BINS = 20;

/** Draws how many envelopes were sent and completed in each week. */
function trendChart(weeks: readonly WeekFigures[]): Html {
  if (weeks.length === 0) return html`<p>Nothing was sent.</p>`;
  const max = Math.max(1, ...weeks.flatMap(({ sent, completed }) => [sent, completed]));
  const rows = weeks.map(({ week, sent, completed }, index) => {
    const y = index * ROW;
    const text = `${grouped(sent)} sent, ${grouped(completed)} completed`;
    return html`${label(week, y)}${bar('sent', sent / max, y + 3, 9)}${bar('done', completed / max, y + 13, 9)}${figure(text, Math.max(sent, completed) / max, y)}`;
  });
  const spoken = weeks.map(({ week, sent, completed }) => `${week}: ${sent} sent, ${completed} completed`);
  const legend = html`<p><span class="key sent"></span>sent<span class="key done"></span>completed</p>`;
  return html`${legend}${chart(spoken, weeks.length * ROW, rows)}`;
}

function histogramChart(durations: Float64Array): Html {
  if (durations.length === 0) return html`<p>No envelopes are completed yet.</p>`;
  const buckets = distributionOf(durations);
  const max = Math.max(1, ...buckets.map(({ count }) => count));
  const rows = buckets.map(({ label: name, count }, index) => {
    const y = index * ROW;
    return html`${label(name, y)}${bar('sent', count / max, y + 4, 18)}${figure(grouped(count), count / max, y)}`;
  });
  const spoken = buckets.map(({ label: name, count }) => `${name}: ${count}`);
  return chart(spoken, buckets.length * ROW, rows);
}

const AGING_HEIGHT = 220;
const BASE = AGING_HEIGHT - 30;
const TOP = 64;

/** Draws how long open envelopes have been open, with the times within which 50%, 85%, and 95% are completed. */
function agingChart(ages: Float64Array, { medianMs, p85Ms, p95Ms }: Spread): Html {
  if (ages.length === 0) return html`<p>No envelopes are open.</p>`;
  const limits: [string, number | null][] = [
    ['50%', medianMs],
    ['85%', p85Ms],
    ['95%', p95Ms],
  ];
  const marks = limits.flatMap(([name, ms]) => (ms === null ? [] : [{ name, ms }]));
  const end = Math.max(DAY_MS, ages.at(-1) ?? 0, ...marks.map(({ ms }) => ms)) * 1.02;
  const binMs = Math.max(1, Math.ceil(end / DAY_MS / MAX_BINS)) * DAY_MS;
  const bins = Array.from({ length: Math.ceil(end / binMs) }, () => 0);
  for (const age of ages) {
    const at = Math.floor(age / binMs);
    bins[at] = (bins[at] ?? 0) + 1;
  }
  const x = (ms: number) => Math.round((ms / (bins.length * binMs)) * (WIDTH - 20)) + 10;
  const max = Math.max(...bins);
  const bars = bins.map((count, index) => {
    const [left, right] = [x(index * binMs), x((index + 1) * binMs)];
    const height = Math.round((count / max) * (BASE - TOP));
    const days = `${Math.round((index * binMs) / DAY_MS)}d`;
    const amount =
      count === 0
        ? ''
        : html`<text x="${(left + right) / 2}" y="${BASE - height - 4}" text-anchor="middle">${grouped(count)}</text>`;
    return html`<rect class="sent" x="${left + 1}" y="${BASE - height}" width="${Math.max(1, right - left - 2)}" height="${height}"/>${amount}<text x="${left}" y="${BASE + 18}">${days}</text>`;
  });
  const lines = marks.map(({ name, ms }, index) => {
    const y = 14 + index * 16;
    const isRight = x(ms) > WIDTH * 0.6;
    const anchor = isRight ? html`x="${x(ms) - 5}" text-anchor="end"` : html`x="${x(ms) + 5}"`;
    return html`<line class="mark" x1="${x(ms)}" x2="${x(ms)}" y1="${y - 10}" y2="${BASE}"/><text ${anchor} y="${y}">${name} completed within ${durationText(ms)}</text>`;
  });
  const older = marks.map(
    ({ name, ms }) =>
      `${grouped(ages.filter((age) => age > ms).length)} are to the right of the ${name} line`,
  );
  const text = `${counted(ages.length, 'open envelope')}${older.length === 0 ? '' : `: ${older.join(', ')}`}.`;
  return html`<p>${text}</p>${chart([text], AGING_HEIGHT, [...bars, ...lines])}`;
}

/** Builds a drawing, with a description for people who can't see it. */
function chart(spoken: readonly string[], height: number, parts: Content): Html {
  return html`<svg role="img" aria-label="${spoken.join('; ')}" viewBox="0 0 ${WIDTH} ${height}">${parts}</svg>`;
}

function label(text: string, y: number): Html {
  return html`<text x="0" y="${y + 18}">${text}</text>`;
}

/** Draws a bar for a share (0–1). */
function bar(kind: 'sent' | 'done', share: number, y: number, height: number): Content {
  if (share === 0) return '';
  return html`<rect class="${kind}" x="${LABEL}" y="${y}" width="${Math.max(2, Math.round(share * MAX_BAR_WIDTH))}" height="${height}" rx="2"/>`;
}

function figure(text: string, share: number, y: number): Html {
  return html`<text x="${LABEL + Math.round(share * MAX_BAR_WIDTH) + 8}" y="${y + 18}">${text}</text>`;
}
