import type { CommandTerminal } from '../../cli/terminal.ts';
import { counted, grouped, listed } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { errColumns } from '../../output/terminal.ts';
import { padded, safeLine, widthOf, wrapped } from '../../output/text.ts';
import { columnLetters } from '../../tables/column-letters.ts';
import type { TableFinding } from '../../tables/record.ts';
import type { FileReport, Findings } from '../rows/check-file.ts';
import { unusedColumns } from '../rows/columns.ts';

/**
 * Shows everything that was found in a file: its problems, what else to look at, and the columns that are not used.
 * @throws UsageError if there are problems.
 */
export function showFindings(found: FileReport, terminal: CommandTerminal): void {
  const { name, problems, rows } = found;
  const notes = notesAbout(found);
  if (terminal.json) {
    const warnings = found.warnings.first.map(
      (one) => `${placeOf(one, name)}: ${one.text}${one.text.endsWith('?') ? '' : '.'}`,
    );
    for (const text of [...warnings, ...more(found.warnings), ...notes]) terminal.notice(text);
  } else {
    const parts = [
      ...(problems.count > 0 ? [table(problems, found)] : []),
      ...(found.warnings.count > 0 ? [`Warnings\n${table(found.warnings, found)}`] : []),
      ...(notes.length > 0
        ? [notes.map((note) => `${wrapped(safeLine(note), errColumns()).join('\n')}\n`).join('')]
        : []),
    ];
    if (parts.length > 0) terminal.err(`${parts.join('\n')}\n`);
  }
  if (problems.count === 0) return;
  throw new UsageError(
    `${counted(problems.count, 'problem')} in ${name} (${counted(rows, 'row')}). Nothing was sent.`,
    {
      hint: `Fix ${problems.count === 1 ? 'it' : 'them'} and run the same command again.`,
      // For people, the table shows them.
      details: terminal.json ? detailsOf(problems, name) : undefined,
    },
  );
}

function notesAbout({ problems, unnamed, columns }: FileReport): string[] {
  const unused = unusedColumns(columns);
  const [first = ''] = unused;
  const send = unused.length === 1 ? 'send it, rename it' : 'send one, rename it, for example';
  return [
    ...(unnamed > 0 && problems.count === 0
      ? [
          `${counted(unnamed, 'signer')} ${unnamed === 1 ? 'has' : 'have'} no name; the email address is used as the name.`,
        ]
      : []),
    ...(unused.length > 0
      ? [`Not used: ${listed(unused)}. To ${send} to meta.${first}; to hide this note, to esign_${first}.`]
      : []),
  ];
}

const GAP = '  ';

/** Returns findings as a table in the order of their lines. Long texts are wrapped, and nothing is cut. */
function table(findings: Findings, { source, columns }: FileReport): string {
  const isSheet = source.format === 'xlsx';
  const cellOf = ({ line, column }: TableFinding) => {
    const index = isSheet && column !== '' ? columns.findIndex(({ name }) => name === column) : -1;
    return index < 0 ? column : `${columnLetters(index)}${line}`;
  };
  const rows = findings.first
    .toSorted((a, b) => a.line - b.line)
    .map((one) => [String(one.line), safeLine(cellOf(one)), safeLine(one.text)] as const);
  const lines = Math.max(4, ...rows.map(([line]) => line.length));
  const header = isSheet ? 'CELL' : 'COLUMN';
  const cells = Math.max(...[header, ...rows.map(([, cell]) => cell)].map(widthOf));
  const indent = lines + cells + 2 * GAP.length;
  const row = ([line, cell, text]: readonly [string, string, string]) => {
    const texts = wrapped(text, Math.max(20, errColumns() - indent)).join(`\n${' '.repeat(indent)}`);
    return `${line.padStart(lines)}${GAP}${padded(cell, cells)}${GAP}${texts}\n`;
  };
  const all = [
    row(['LINE', header, 'PROBLEM']),
    ...rows.map(row),
    ...more(findings).map((text) => `${text}\n`),
  ];
  return all.join('');
}

function more({ count, first }: Findings): string[] {
  return count > first.length ? [`… and ${grouped(count - first.length)} more.`] : [];
}

function placeOf({ line, column }: TableFinding, name: string): string {
  return `${name}:${line}${column === '' ? '' : ` ${column}`}`;
}

/** Returns problems by their place, such as `people.csv:62 email`. */
function detailsOf({ first }: Findings, name: string): Record<string, string[]> {
  const details = new Map<string, string[]>();
  for (const one of first) {
    const place = placeOf(one, name);
    details.set(place, [...(details.get(place) ?? []), one.text]);
  }
  return Object.fromEntries(details);
}
