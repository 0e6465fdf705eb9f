import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped, listed } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { errColumns, errRows } from '../../output/terminal.ts';
import { padded, safeLine, widthOf, wrapped } from '../../output/text.ts';
import { columnLetters } from '../../tables/column-letters.ts';
import type { FileReport } from '../rows/check-file.ts';
import { unusedColumns } from '../rows/columns.ts';
import { type FindingGroup, foldSimilar, type LineFindings, lineRanges } from '../rows/findings.ts';

/** Lines of a terminal for the error below the findings, and for the next prompt. */
const ERROR_LINES = 5;
/** Lines for warnings below problems, and for warnings above a question. */
const FEW_WARNINGS = 5;
const MAX_WARNINGS = 12;

/**
 * Shows everything that was found in a file: its problems, what else to look at, and the columns that are not used. On a
 * terminal, not more than a screen.
 * @throws UsageError if there are problems.
 */
export function showFindings(found: FileReport, terminal: CommandTerminal): void {
  const { name, problems, rows } = found;
  if (terminal.json) {
    for (const text of [...warningsInWords(found), ...notesAbout(found)]) terminal.notice(text);
  } else {
    const parts = partsFor(found);
    if (parts.length > 0) terminal.err(`${parts.join('\n')}\n`);
  }
  if (problems.count === 0) return;
  throw new UsageError(
    `${counted(problems.different, 'problem')} in ${name}${rows > 0 ? ` (${counted(rows, 'row')})` : ''}. Nothing was sent.`,
    {
      hint: `Fix ${problems.different === 1 ? 'it' : 'them'} and run the same command again.`,
      // For people, the table shows them.
      details: terminal.json ? detailsOf(found) : undefined,
    },
  );
}

/** Returns the tables and notes for people. */
function partsFor(found: FileReport): string[] {
  const { problems, warnings } = found;
  const notes = notesAbout(found).map((note) => `${wrapped(safeLine(note), errColumns()).join('\n')}\n`);
  const room = errRows() - notes.join('').split('\n').length;
  const hasProblems = problems.count > 0;
  const hasWarnings = warnings.count > 0;
  const forProblems = room - ERROR_LINES - (hasWarnings ? FEW_WARNINGS + 1 : 0);
  const forWarnings = hasProblems ? FEW_WARNINGS : Math.min(room, MAX_WARNINGS);
  return [
    ...(hasProblems ? [table(problems, found, forProblems)] : []),
    ...(hasWarnings
      ? [`Warnings\n${table(warnings, found, isWhole() ? Number.POSITIVE_INFINITY : forWarnings - 1)}`]
      : []),
    ...(notes.length > 0 ? [notes.join('')] : []),
  ];
}

/** Returns true if everything is shown, because stderr is not a terminal. */
function isWhole(): boolean {
  return errRows() === Number.POSITIVE_INFINITY;
}

function notesAbout({ problems, unnamed, columns, nameExample }: FileReport): string[] {
  const unused = unusedColumns(columns);
  const [first = ''] = unused;
  const send = unused.length === 1 ? 'send it, rename it' : 'send one, rename it, for example';
  return [
    ...(nameExample === undefined ? [] : [`Names are put together from two columns: ${nameExample}.`]),
    ...(unnamed > 0 && problems.count === 0
      ? [
          `${counted(unnamed, 'signer')} ${unnamed === 1 ? 'has' : 'have'} no name; the email address is used as the name.`,
        ]
      : []),
    ...(unused.length > 0
      ? [
          `Not used: ${listed(unused.map((name) => `"${name}"`))}. To ${send} to "meta.${first}"; to hide this note, to "esign_${first}".`,
        ]
      : []),
  ];
}

const GAP = '  ';
/** The number of ranges of lines that a terminal shows for one finding. */
const MAX_RANGES = 5;

/**
 * Returns findings as a table with at most `room` lines, and at least one finding. If they don't fit, those that differ only in
 * their values are one. Long texts are wrapped, and nothing is cut.
 */
function table(findings: LineFindings, report: FileReport, room: number): string {
  const groups = findings.groups();
  const dropped = findings.dropped > 0 ? `… and ${grouped(findings.dropped)} more.\n` : '';
  if (isWhole()) return `${lines(groups, report, room).join('')}${dropped}`;
  const all = lines(groups.slice(0, room), report, MAX_RANGES);
  if (groups.length <= room && heightOf(all) <= room) return all.join('');
  const folded = foldSimilar(groups);
  const shown: string[] = [];
  for (const line of lines(folded.slice(0, room), report, MAX_RANGES)) {
    // The header and the first finding are always shown, and one line is for the sentence below.
    if (shown.length > 1 && heightOf([...shown, line]) >= room) break;
    shown.push(line);
  }
  const left = folded.length - (shown.length - 1);
  const more = left > 0 ? `… and ${grouped(left)} more. ` : '';
  return `${shown.join('')}${more}To see each of them, add \`2> problems.txt\`.\n`;
}

function heightOf(parts: readonly string[]): number {
  return parts.join('').split('\n').length - 1;
}

/** Returns the header of the table and its rows. */
function lines(
  groups: readonly FindingGroup[],
  { source, columns, rows }: FileReport,
  maxRanges: number,
): string[] {
  const isSheet = source.format === 'xlsx';
  const cellOf = ({ line, column }: FindingGroup) => {
    const index = isSheet && column !== '' ? columns.findIndex(({ name }) => name === column) : -1;
    return index < 0 ? column : `${columnLetters(index)}${line}`;
  };
  const header = ['LINE', isSheet ? 'CELL' : 'COLUMN', 'PROBLEM'] as const;
  const cells = groups.map(
    (one) => [String(one.line), safeLine(cellOf(one)), textOf(one, rows, maxRanges)] as const,
  );
  const all = [header, ...cells];
  const widths = [0, 1].map((at) => all.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 0));
  const [lineWidth = 0, cellWidth = 0] = widths;
  const indent = lineWidth + cellWidth + 2 * GAP.length;
  const width = Math.max(20, errColumns() - indent);
  return all.map(([line, cell, text]) => {
    // A pipe may get a hundred thousand.
    const texts = isWhole() ? text : wrapped(text, width).join(`\n${' '.repeat(indent)}`);
    return `${line.padStart(lineWidth)}${GAP}${padded(cell, cellWidth)}${GAP}${texts}\n`;
  });
}

/** Returns the text of a finding, with its lines if there are several. */
function textOf({ text, lines }: FindingGroup, rows: number, maxRanges: number): string {
  if (lines.length === 1) return safeLine(text);
  const where =
    lines.length === rows ? 'every row' : `${counted(lines.length, 'row')}: ${lineRanges(lines, maxRanges)}`;
  return safeLine(`${text} (${where})`);
}

function placeOf(line: number, column: string, name: string): string {
  return `${name}:${line}${column === '' ? '' : ` ${column}`}`;
}

function warningsInWords({ warnings, name, rows }: FileReport): string[] {
  const texts = warnings.groups().map((one) => {
    const text = textOf(one, rows, Number.POSITIVE_INFINITY);
    return `${placeOf(one.line, one.column, name)}: ${text}${text.endsWith('?') ? '' : '.'}`;
  });
  return [...texts, ...(warnings.dropped > 0 ? [`… and ${grouped(warnings.dropped)} more.`] : [])];
}

/** Returns problems by their place, such as `people.csv:62 email`. A problem of every row is at the first one. */
function detailsOf({ problems, name, rows }: FileReport): Record<string, string[]> {
  const details = new Map<string, string[]>();
  for (const one of problems.groups()) {
    const isEvery = rows > 1 && one.lines.length === rows;
    const text = isEvery ? textOf(one, rows, 1) : one.text;
    for (const line of isEvery ? [one.line] : one.lines) {
      const place = placeOf(line, one.column, name);
      details.set(place, [...(details.get(place) ?? []), text]);
    }
  }
  return Object.fromEntries(details);
}
