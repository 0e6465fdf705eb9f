import { counted, durationInWords, grouped } from '../../kernel/duration.ts';
import type { ListView } from '../../output/list.ts';
import { indented, renderPairs, renderTable, type TableColumn } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine, truncate } from '../../output/text.ts';
import { localDate } from '../../output/time.ts';
import { distributionOf } from '../../statistics/distribution.ts';
import type { GroupBy } from '../../statistics/groups.ts';
import type { GroupFigures, ReportDetails, StatisticsReport, WeekFigures } from '../../statistics/report.ts';
import type { Spread } from '../../statistics/tally.ts';
import { durationText, percentText } from './markdown.ts';

/** A report, with the data of its charts. */
export interface ReportContent {
  report: StatisticsReport;
  details: ReportDetails;
  /** The service's time, in ms. */
  now: number;
  by: GroupBy | undefined;
}

/** The maximum number of weeks shown on a terminal. */
const MAX_WEEKS = 13;
const MAX_REASONS = 5;
const WIDEST_BAR = 30;

export function figuresList(by: GroupBy | undefined): ListView<GroupFigures> {
  return { id: ({ key }) => key ?? '', columns: columnsBy(by) };
}

function columnsBy(by: GroupBy | undefined): TableColumn<GroupFigures>[] {
  const count = (key: CountKey, header: string): TableColumn<GroupFigures> => ({
    key,
    header,
    show: (group) => grouped(group[key]),
    fixed: true,
  });
  const time = (header: string, of: 'toComplete' | 'turn', key: keyof Spread): TableColumn<GroupFigures> => ({
    key: `${of}.${key}`,
    header,
    show: (group) => durationText(group[of][key]),
    fixed: true,
    exactOnly: of === 'turn',
  });
  return [
    { key: 'key', exactOnly: true },
    { key: 'name', header: headerOf(by), show: ({ name }) => name ?? '(none)' },
    count('sent', 'SENT'),
    {
      key: 'completionRate',
      header: 'RATE',
      show: ({ completionRate }) => percentText(completionRate),
      fixed: true,
    },
    time('MEDIAN', 'toComplete', 'medianMs'),
    time('85%', 'toComplete', 'p85Ms'),
    time('95%', 'toComplete', 'p95Ms'),
    count('completed', 'DONE'),
    count('declined', 'DECLINED'),
    count('expired', 'EXPIRED'),
    count('cancelled', 'CANCELED'),
    count('open', 'OPEN'),
    time('TURN', 'turn', 'medianMs'),
    time('TURN 85%', 'turn', 'p85Ms'),
    time('TURN 95%', 'turn', 'p95Ms'),
    { ...count('sentThisMonth', 'THIS MONTH'), exactOnly: true },
  ];
}

type CountKey = 'sent' | 'completed' | 'declined' | 'expired' | 'cancelled' | 'open' | 'sentThisMonth';

function headerOf(by: GroupBy | undefined): string {
  if (by === undefined) return 'GROUP';
  return by.kind === 'meta' ? safeLine(by.metadataKey).toUpperCase() : by.kind.toUpperCase();
}

/** Renders the report for a terminal: the figures, a table of the groups, a weekly trend, and a histogram. */
export function renderReport({ report, details, by }: ReportContent, terminal: Terminal): string {
  const groups = by === undefined ? '' : `\n${renderTable(report.groups, columnsBy(by), terminal)}`;
  return [
    `${terminal.style('bold', titleOf(report))}\n`,
    renderPairs(figurePairs(report), terminal, '  '),
    groups,
    trend(details.weeks, terminal),
    histogram(details, terminal),
    reasons(report, terminal),
  ].join('');
}

/** Returns what the report covers, such as `41 envelopes sent`, with local dates. */
function titleOf({ sent, since, until }: StatisticsReport): string {
  const end = localDate(Date.parse(until));
  const range = since === null ? `until ${end}` : `created ${localDate(Date.parse(since))} to ${end}`;
  return `${counted(sent, 'envelope')} sent, ${range}`;
}

export function figurePairs(report: StatisticsReport): [string, string][] {
  const { completed, declined, expired, cancelled, open, completionRate, toComplete, turn } = report;
  const counts = [
    `${grouped(completed)} completed`,
    `${grouped(open)} open`,
    `${grouped(declined)} declined`,
    `${grouped(expired)} expired`,
    `${grouped(cancelled)} canceled`,
  ];
  return [
    ['Status', counts.join(', ')],
    [
      'Completion rate',
      completionRate === null
        ? 'none have finished yet'
        : `${percentText(completionRate)} of finished envelopes`,
    ],
    ['Time to complete', spreadText(toComplete, 'envelope')],
    ["A signer's turn", spreadText(turn, 'turn')],
    ['Sent this month', grouped(report.sentThisMonth)],
  ];
}

function spreadText({ samples, medianMs, p85Ms, p95Ms }: Spread, unit: string): string {
  if (medianMs === null || p85Ms === null || p95Ms === null) return 'none yet';
  const [median, most, nearlyAll] = [medianMs, p85Ms, p95Ms].map(durationInWords);
  return `median ${median}, 85% within ${most}, 95% within ${nearlyAll} (${counted(samples, unit)})`;
}

function trend(weeks: readonly WeekFigures[], terminal: Terminal): string {
  const shown = weeks.slice(-MAX_WEEKS);
  const max = Math.max(1, ...shown.map(({ sent }) => sent));
  const rows = shown.map(({ week, sent, completed }): [string, string] => [
    week,
    barLine(sent / max, `${grouped(sent)} sent, ${grouped(completed)} completed`, terminal),
  ]);
  return section('Weekly trend', rows, terminal);
}

function histogram({ timesToComplete }: ReportDetails, terminal: Terminal): string {
  if (timesToComplete.length === 0) return '';
  const buckets = distributionOf(timesToComplete);
  const max = Math.max(1, ...buckets.map(({ count }) => count));
  const rows = buckets.map(({ label, count }): [string, string] => [
    label,
    barLine(count / max, grouped(count), terminal),
  ]);
  return section('Time to complete', rows, terminal);
}

function reasons({ declineReasons }: StatisticsReport, terminal: Terminal): string {
  if (declineReasons.length === 0) return '';
  const lines = declineReasons.slice(0, MAX_REASONS).map(({ reason, count }) => {
    const text = truncate(safeLine(reason ?? '(no reason)'), Math.max(20, terminal.columns - 10));
    return `  ${indented(`${grouped(count)}  ${text}`, 2, terminal)}\n`;
  });
  return `\n${terminal.style('bold', 'Decline reasons')}\n${lines.join('')}`;
}

function section(title: string, rows: readonly (readonly [string, string])[], terminal: Terminal): string {
  if (rows.length === 0) return '';
  return `\n${terminal.style('bold', title)}\n${renderPairs(rows, terminal, '  ')}`;
}

/** Renders a bar for a share (0–1), followed by its figures. */
function barLine(share: number, text: string, terminal: Terminal): string {
  const room = Math.max(5, Math.min(WIDEST_BAR, terminal.columns - 45));
  const bar = '█'.repeat(share > 0 ? Math.max(1, Math.round(share * room)) : 0);
  return bar === '' ? text : `${terminal.style('cyan', bar)} ${text}`;
}
