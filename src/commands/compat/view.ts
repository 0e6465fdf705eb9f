import {
  type CompatibilityFinding,
  type CompatibilityReport,
  openPointParts,
  openPointText,
} from '../../compatibility/findings.ts';
import { counted } from '../../kernel/duration.ts';
import { indented, renderTable } from '../../output/table.ts';
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

/** Renders the report: findings first on a terminal, one line per finding in a pipe. */
export function renderReport(report: CompatibilityReport, path: string, terminal: Terminal): string {
  return terminal.outIsTty ? renderPage(report, path, terminal) : renderLines(report);
}

function renderLines(report: CompatibilityReport): string {
  const rows = [
    ...report.contradictions.map((one) => rowOf('contradiction', one)),
    ...report.openPoints.map((one) => rowOf('open point', { ...one, what: openPointText(one) })),
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

function renderPage(report: CompatibilityReport, path: string, terminal: Terminal): string {
  const { contradictions, openPoints, documented, neverSeen } = report;
  if (documented.length + contradictions.length + openPoints.length === 0)
    return 'Nothing has been recorded for this service yet. Every command that calls it adds to the record.\n';
  const heading = (text: string) => `\n${terminal.style('bold', text)}\n`;
  const line = (text: string) => indented(safeLine(text), 2, terminal);
  const details = (one: CompatibilityFinding) =>
    `  ${terminal.style('dim', line(`${one.where}; ${seenTimes(one)}`))}\n`;
  return [
    contradictions.length === 0
      ? `${terminal.style('green', '✓')} No response contradicts the API document.\n`
      : `${terminal.style('red', counted(contradictions.length, 'contradiction'))} with the API document\n`,
    ...contradictions.map((one) => `${terminal.style('red', '✗')} ${line(one.what)}\n${details(one)}`),
    ...(openPoints.length === 0 ? [] : [heading('Not specified in the API document')]),
    ...openPoints.map((one) => {
      const { name, description } = openPointParts(one.what);
      const what = `• ${line(`${name}: ${one.seen.join('; ')}`)}\n`;
      return `${what}${description === '' ? '' : `  ${line(description)}\n`}${details(one)}`;
    }),
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
    `${indented(safeLine(neverSeen.map(({ what }) => openPointParts(what).name).join(', ')), 0, terminal)}\n`,
    `\n${indented(safeLine(`The record is stored in ${path}. Delete it to start over.`), 0, terminal)}\n`,
  ].join('');
}

function seenTimes({ times, since }: CompatibilityFinding): string {
  return `${counted(times, 'time')} since ${since.slice(0, 10)}`;
}
