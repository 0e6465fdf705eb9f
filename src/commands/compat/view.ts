import type {
  CompatibilityFinding,
  CompatibilityReport,
  OpenPointFinding,
} from '../../compatibility/findings.ts';
import { counted } from '../../kernel/duration.ts';
import { renderTable } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';

/** A line of the report. */
interface Row {
  kind: string;
  what: string;
  times: string;
  since: string;
  where: string;
}

/** Renders the report: for people with the findings first, in a pipe as one line per finding. */
export function renderReport(report: CompatibilityReport, path: string, terminal: Terminal): string {
  return terminal.outIsTty ? renderPage(report, path, terminal) : renderLines(report);
}

function renderLines(report: CompatibilityReport): string {
  const rows = [
    ...report.contradictions.map((one) => rowOf('contradiction', one)),
    ...report.openPoints.map((one) => rowOf('open point', { ...one, what: withReadings(one) })),
    ...report.documented.map((one) => rowOf('documented', one)),
    ...report.neverSeen.map((one) => ({ kind: 'never seen', times: '0', since: '', ...one })),
  ];
  return rows
    .map(({ kind, what, times, since, where }) => [kind, what, times, since, where].map(safeLine).join('\t'))
    .map((line) => `${line}\n`)
    .join('');
}

function rowOf(kind: string, { what, times, since, where }: CompatibilityFinding): Row {
  return { kind, what, times: String(times), since, where };
}

function withReadings({ what, seen }: OpenPointFinding): string {
  return `${what}: ${seen.join('; ')}`;
}

function renderPage(report: CompatibilityReport, path: string, terminal: Terminal): string {
  const { contradictions, openPoints, documented, neverSeen } = report;
  if (documented.length + contradictions.length + openPoints.length === 0)
    return 'Nothing has been recorded for this service yet. Every command that calls it adds to the record.\n';
  const heading = (text: string) => `\n${terminal.style('bold', text)}\n`;
  const finding = (mark: string, one: CompatibilityFinding, what: string) =>
    `${mark} ${safeLine(what)}\n  ${terminal.style('dim', safeLine(`${one.where}; ${seenTimes(one)}`))}\n`;
  return [
    contradictions.length === 0
      ? `${terminal.style('green', '✓')} No response contradicts the API document.\n`
      : `${terminal.style('red', counted(contradictions.length, 'contradiction'))} with the API document\n`,
    ...contradictions.map((one) => finding(terminal.style('red', '✗'), one, one.what)),
    ...(openPoints.length === 0 ? [] : [heading('Not specified in the API document')]),
    ...openPoints.map((one) => finding('•', one, withReadings(one))),
    heading('As documented'),
    renderTable(
      documented,
      [
        { key: 'what', header: 'WHAT', value: (one) => one.what },
        { key: 'times', header: 'TIMES', value: (one) => String(one.times) },
        { key: 'where', header: 'WHERE', value: (one) => one.where },
      ],
      terminal,
    ),
    heading(`Never seen: ${neverSeen.length}`),
    `${safeLine(neverSeen.map(({ what }) => what).join(', '))}\n`,
    `\nThe record is stored in ${safeLine(path)}. Delete it to start over.\n`,
  ].join('');
}

function seenTimes({ times, since }: CompatibilityFinding): string {
  return `${counted(times, 'time')} since ${since.slice(0, 10)}`;
}
