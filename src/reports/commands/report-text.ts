import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import { indented, renderPairs, renderTable } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine, truncate } from '../../output/text.ts';
import { type GroupBy, monthOf } from '../groups.ts';
import type { StatisticsReport, WeekFigures } from '../summarize.ts';
import type { DurationSpread } from '../tally.ts';
import { percentText } from './figure-text.ts';
import { columnsBy } from './figures-table.ts';
import { type AttentionWithCommands, attentionItems, renderAttention } from './report-attention.ts';

/** A report, with the data of its chart. */
export interface ReportContent {
  report: StatisticsReport & { attention: AttentionWithCommands };
  /** The names of the profile and the service. */
  account: string;
  weeks: readonly WeekFigures[];
  /** The service's time, in ms. */
  now: number;
  by: GroupBy | undefined;
}

/** How many lines fit on a screen of 24 lines, above the next prompt, and how many of them are decline reasons. */
const MAX_LINES = 22;
const MAX_REASONS = 3;

/** Renders the report for a terminal: what needs attention, then the figures, or with groups a table of them. */
export function renderReport({ report, by, now }: ReportContent, terminal: Terminal): string {
  const pairs = figurePairs(report, now);
  const head = [
    attention(report.attention, terminal),
    `${terminal.style('bold', titleOf(report))}\n`,
    renderPairs(by === undefined ? pairs : pairs.slice(0, 1), terminal, '  '),
  ].join('');
  return `${head}${by === undefined ? reasons(report, terminal) : groupTable(report, by, head, terminal)}`;
}

function attention(kinds: AttentionWithCommands, terminal: Terminal): string {
  const items = attentionItems(kinds);
  return items.length === 0 ? 'Nothing needs attention.\n\n' : `${renderAttention(items, terminal)}\n`;
}

/** Shows as many groups as fit below `head`. */
function groupTable({ groups }: StatisticsReport, by: GroupBy, head: string, terminal: Terminal): string {
  const room = Math.max(3, MAX_LINES - head.split('\n').length - 2);
  const table = renderTable(groups.slice(0, room), columnsBy(by), terminal);
  const more = groups.length - room;
  return `\n${table}${more > 0 ? `… and ${grouped(more)} more: add --csv, --json, or --html FILE\n` : ''}`;
}

/** Returns what the report covers, such as `41 envelopes sent`, with dates in UTC. */
function titleOf({ sent, since, until }: StatisticsReport): string {
  const end = until.slice(0, 10);
  const range = since === null ? `until ${end}` : `created ${since.slice(0, 10)} to ${end}`;
  return `${counted(sent, 'envelope')} sent, ${range}`;
}

/** Returns the figures, each with its name. The number of envelopes sent this month is left out if the period ended before it. */
export function figurePairs(report: StatisticsReport, now: number): [string, string][] {
  const { completed, declined, expired, cancelled, open, completionRate, toComplete, turn } = report;
  const counts = [
    `${grouped(completed)} completed`,
    `${grouped(open)} open`,
    `${grouped(declined)} declined`,
    `${grouped(expired)} expired`,
    `${grouped(cancelled)} canceled`,
  ];
  const pairs: [string, string][] = [
    ['Status', counts.join(', ')],
    [
      'Completion rate',
      completionRate === null
        ? 'none have finished yet'
        : `${percentText(completionRate)} of finished envelopes`,
    ],
    ['Time to complete', spreadText(toComplete, 'envelope')],
    ["A signer's turn", spreadText(turn, 'turn')],
  ];
  if (monthOf(Date.parse(report.until)) === monthOf(now))
    pairs.push(['Sent this month', grouped(report.sentThisMonth)]);
  return pairs;
}

function spreadText({ samples, medianMs, p85Ms, p95Ms }: DurationSpread, unit: string): string {
  if (medianMs === null || p85Ms === null || p95Ms === null) return 'none yet';
  const [median, most, nearlyAll] = [medianMs, p85Ms, p95Ms].map(durationInWords);
  return `median ${median}, 85% within ${most}, 95% within ${nearlyAll} (${counted(samples, unit)})`;
}

function reasons({ declineReasons }: StatisticsReport, terminal: Terminal): string {
  if (declineReasons.length === 0) return '';
  const lines = declineReasons.slice(0, MAX_REASONS).map(({ reason, count }) => {
    const text = truncate(safeLine(reason ?? '(no reason)'), Math.max(20, terminal.columns - 10));
    return `  ${indented(`${grouped(count)}  ${text}`, 2, terminal)}\n`;
  });
  return `\n${terminal.style('bold', 'Decline reasons')}\n${lines.join('')}`;
}
