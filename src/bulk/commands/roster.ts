import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, fieldsFlag, formatFlags, rowsFile, sinceFlag, textFlag } from '../../cli/flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import { rebuildCommand } from '../../cli/rebuild-command.ts';
import type { Context } from '../../cli/session/context.ts';
import type { Moment } from '../../kernel/clock.ts';
import { listsSigners } from '../../kernel/statuses.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { isTableOutput, type ListView, writeIds, writeList } from '../../output/print-list.ts';
import type { TableColumn } from '../../output/table.ts';
import { searchEnvelopes } from '../../selection/select-envelopes.ts';
import { filtersFromFlags } from '../../selection/selection-flags.ts';
import type { TableCell } from '../../tables/table-cell.ts';
import { openSource, type SourceFile } from '../rewrite/source-file.ts';
import { hasBeenAsked, Roster } from '../roster/roster.ts';
import { emptyReport, type FileReport } from '../rows/check-file.ts';
import { checkRow } from '../rows/check-row.ts';
import { fileFlags } from './bulk-flags.ts';
import { type RosterLine, rosterColor, rosterText } from './roster-screen.ts';
import { checkRowsFile, openRowsSource, rowWriter } from './rows-file.ts';
import { showFindings } from './show-findings.ts';
import { envelopeIds } from './status.ts';

export default class BulkRoster extends EsignCommand {
  static override summary = 'Show who on a list has signed a template.';
  static override description =
    'Shows how many people are in each state, and who has not signed: signed, waiting (an envelope is open), declined, expired, cancelled, or never. With --all or in a pipe, prints one line for each signer in each row. Finds envelopes by template and address, no matter who created them; a row with its own template_id counts for that template, and a replaced signer counts as the replacement. With --missing, prints the rows of FILE with signers who have neither signed, nor declined, nor been asked, ready for `bulk create`.';
  static override examples = [
    '<%= config.bin %> bulk roster staff.csv --template tmpl_policy',
    '<%= config.bin %> bulk roster staff.xlsx --template tmpl_policy --since 2026-01-01 -o signed.xlsx',
    '<%= config.bin %> bulk roster staff.csv --template tmpl_policy --missing | <%= config.bin %> bulk create - --template tmpl_policy --send --yes',
  ];
  static override args = rowsFile;
  static override flags = {
    template: textFlag('ID', 'template of rows without a template_id'),
    since: sinceFlag({
      description: 'only envelopes created since this time (default: all)',
      helpValue: '90d|DATE',
    }),
    missing: booleanFlag(
      'print the rows with signers who have neither signed, nor declined, nor been asked',
      { default: false, exclusive: ['json', 'csv', 'fields', 'quiet'] },
    ),
    all: booleanFlag('list all signers', { default: false }),
    ...formatFlags,
    fields: fieldsFlag('email,state'),
    ...fileFlags,
  };

  async run(): Promise<void> {
    const { args, flags, context, session, terminal } = await this.start(BulkRoster);
    const table = flags.missing ? undefined : outputTable(flags, terminal);
    if (flags.missing) checkRowsFile(flags, args.file);
    const source = openRowsSource(args.file);
    const file = await openSource(source, flags);
    const list = await readPeople({ name: source.name, file, template: flags.template });
    showFindings(list.report, terminal);
    const roster = await collectRoster(templatesOf(list.rows), flags.since, context);
    if (flags.missing) {
      const writer = rowWriter(file, flags, terminal);
      const rows = list.rows.filter(({ signers }) =>
        signers.some((one) => !hasBeenAsked(findIn(roster, one))),
      );
      for (const cells of [...list.header, ...rows.map(({ cells: own }) => own)]) await writer.write(cells);
      return writer.end(rows.length);
    }
    const people = list.rows.flatMap(({ signers }) =>
      signers.map((one) => ({ ...one, ...findIn(roster, one) })),
    );
    const format = { ...flags, table };
    const out = terminal.hidingSecrets();
    if (flags.quiet) return writeIds(await envelopeIds(people), out);
    if (flags.all || !isTableOutput(format, terminal)) return writeList(people, rosterList, format, out);
    const { template, profile } = flags;
    const create = command(
      ...['bulk', 'create', '-', '--send'],
      ...(template === undefined ? [] : ['--template', template]),
      ...(profile === undefined ? [] : ['--profile', profile]),
    );
    const sendCommand = `${rebuildCommand(session.words, { add: ['--missing'] })} | ${create}`;
    await out.out(rosterText({ name: source.name, rows: list.rows.length, people, sendCommand }, terminal));
  }
}

function findIn(roster: Roster, { email, templateId }: RowSigner) {
  return roster.find(email, templateId);
}

/**
 * Collects the signers of the templates from the local index and newer envelopes.
 * @throws ServiceError NOT_FOUND if a template doesn't exist.
 */
async function collectRoster(
  templates: readonly string[],
  since: Moment | undefined,
  context: Context,
): Promise<Roster> {
  const roster = new Roster();
  const client = await context.session.client();
  const { signal } = context.interrupt;
  for (const id of templates) await client.templates.get(id, signal);
  const template = templates.length === 1 ? templates[0] : undefined;
  const { envelopes } = await searchEnvelopes(filtersFromFlags({ template, since }), {}, context);
  for await (const one of envelopes) {
    // The search also matches templates by name.
    if (!templates.includes(one.templateId ?? '')) continue;
    roster.add(listsSigners(one) ? one : await client.envelopes.getListed(one.id, signal));
  }
  return roster;
}

/** A signer of a row. */
type RowSigner = Pick<RosterLine, 'row' | 'line' | 'templateId' | 'email' | 'name' | 'role'>;

interface ListRow {
  signers: RowSigner[];
  /** The row as it is written again. */
  cells: TableCell[];
}

/** The rows of a list, and its header if it has one. */
interface PeopleList {
  report: FileReport;
  header: TableCell[][];
  rows: ListRow[];
}

function templatesOf(rows: readonly ListRow[]): string[] {
  return [...new Set(rows.flatMap(({ signers }) => signers.map(({ templateId }) => templateId)))];
}

async function readPeople({
  name,
  file,
  template,
}: {
  name: string;
  file: SourceFile;
  template: string | undefined;
}): Promise<PeopleList> {
  const list: PeopleList = { report: emptyReport(name), header: [], rows: [] };
  const { report } = list;
  for await (const part of file.parts) {
    if ('header' in part) {
      list.header.push(part.header(false));
      continue;
    }
    const row = ++report.rows;
    const { line, label } = part;
    // Only the signers and the template matter here. The rest is checked when the rows are sent.
    const { envelope } = checkRow(part, { templateId: template }, (field, text) => {
      if (field.startsWith('signers') || field === 'templateId')
        report.problems.add({ line, column: label(field), text });
    });
    const { templateId } = envelope;
    const signers = envelope.signers.map(({ email, name: own, role }) => ({
      ...{ row, line, templateId, email },
      name: own === email ? null : own,
      role: role ?? null,
    }));
    list.rows.push({ signers, cells: part.rewritten() });
  }
  return list;
}

const COLUMNS: readonly TableColumn<RosterLine>[] = [
  { key: 'row', fixed: true },
  { key: 'email' },
  { key: 'name' },
  { key: 'role' },
  { key: 'state', fixed: true, color: ({ state }) => rosterColor(state) },
  { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
  { key: 'signedAt', header: 'SIGNED' },
  { key: 'templateId', header: 'TEMPLATE' },
  { key: 'replacedBy', header: 'REPLACED BY' },
  { key: 'line', exactOnly: true },
];

/** The list of who has signed, with a line for each signer. */
const rosterList: ListView<RosterLine> = {
  id: ({ envelopeId }) => envelopeId ?? '',
  empty: 'The list has no rows.',
  columns: COLUMNS,
};
