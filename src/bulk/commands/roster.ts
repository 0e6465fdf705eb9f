import * as Flags from '@oclif/core/flags';
import { searchEnvelopes } from '../../catalog/commands/select-envelopes.ts';
import { filtersOf } from '../../catalog/commands/selection-flags.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, fieldsFlag, formatFlags, rowsFile, sinceFlag } from '../../cli/flags.ts';
import type { Moment } from '../../kernel/clock.ts';
import { listsSigners } from '../../kernel/vocabulary.ts';
import { type ListView, writeIds, writeList } from '../../output/print-list.ts';
import type { TableColumn } from '../../output/table.ts';
import type { Context } from '../../session/context.ts';
import { openSource, type SourceFile } from '../rewrite/source-file.ts';
import { hasBeenAsked, Roster, type RosterEntry } from '../roster/roster.ts';
import { emptyReport, type FileReport } from '../rows/check-file.ts';
import { checkRow } from '../rows/row.ts';
import { fileFlags, localDelimiter } from './bulk-flags.ts';
import { bufferedWriter, sourceOf } from './rows-file.ts';
import { showFindings } from './show-findings.ts';
import { envelopeIds } from './status.ts';

export default class BulkRoster extends EsignCommand {
  static override summary = 'Show who on a list has signed a template.';
  static override description =
    'Prints one line for each signer in each row: signed, waiting (an envelope is open), declined, expired, cancelled, or never. Finds envelopes by template and address, no matter who created them. With --missing, prints the rows of FILE with signers who have neither signed, nor declined, nor been asked, ready for `bulk create`.';
  static override examples = [
    '<%= config.bin %> bulk roster staff.csv --template tmpl_policy',
    '<%= config.bin %> bulk roster staff.xlsx --template tmpl_policy --since 2026-01-01 --csv > signed.csv',
    '<%= config.bin %> bulk roster staff.csv --template tmpl_policy --missing | <%= config.bin %> bulk create - --template tmpl_policy --send --yes',
  ];
  static override args = rowsFile;
  static override flags = {
    template: Flags.string({ description: 'template to look for', helpValue: 'ID', required: true }),
    since: sinceFlag({
      description: 'only envelopes created since this time (default: all)',
      helpValue: '90d|DATE',
    }),
    missing: booleanFlag(
      'print the rows with signers who have neither signed, nor declined, nor been asked',
      {
        default: false,
        exclusive: ['json', 'csv', 'fields', 'quiet'],
      },
    ),
    ...formatFlags,
    fields: fieldsFlag('email,state'),
    ...fileFlags,
  };

  async run(): Promise<void> {
    const { args, flags, context, session, interrupt, terminal } = await this.start(BulkRoster);
    const { template, since } = flags;
    const client = await session.client();
    await client.templates.get(template, interrupt.signal);
    const source = sourceOf(args.file);
    const file = await openSource(source, { ...flags, sheetDelimiter: flags.delimiter ?? localDelimiter() });
    const roster = await collectRoster(template, since, context);
    const list = await readPeople({ name: source.name, file, template }, roster);
    showFindings(list.report, terminal);
    const out = terminal.hidingSecrets();
    if (flags.quiet) return writeIds(await envelopeIds(list.people), out);
    if (!flags.missing) return writeList(list.people, rosterList, flags, out);
    const writer = bufferedWriter(terminal);
    for (const text of list.missing) await writer.write(text);
    await writer.end();
  }
}

/** Collects the signers of a template from the local index and newer envelopes. */
async function collectRoster(template: string, since: Moment | undefined, context: Context): Promise<Roster> {
  const roster = new Roster();
  const client = await context.session.client();
  const { envelopes } = await searchEnvelopes(filtersOf({ template, since }), {}, context);
  for await (const one of envelopes) {
    // The search also matches templates by name.
    if (one.templateId !== template) continue;
    roster.add(listsSigners(one) ? one : await client.envelopes.getListed(one.id, context.interrupt.signal));
  }
  return roster;
}

/** The people on a list, and the text of its header and of the rows with somebody who has not been asked. */
interface People {
  report: FileReport;
  people: RosterLine[];
  missing: string[];
}

/** Reads a list and looks up each signer. */
async function readPeople(
  { name, file, template }: { name: string; file: SourceFile; template: string },
  roster: Roster,
): Promise<People> {
  const report = emptyReport(name);
  const people: RosterLine[] = [];
  const missing: string[] = [];
  for await (const part of file.parts) {
    if ('header' in part) {
      missing.push(part.header(false));
      continue;
    }
    const row = ++report.rows;
    const { line, label } = part;
    // Only the signers matter here. The rest is checked when the rows are sent.
    const { envelope } = checkRow(part, { templateId: template }, (field, text) => {
      if (field.startsWith('signers')) report.problems.add({ line, column: label(field), text });
    });
    const signers = envelope.signers.map(({ email, name, role }) => ({
      row,
      email,
      name: name === email ? null : name,
      role: role ?? null,
      ...roster.find(email),
    }));
    people.push(...signers);
    if (!signers.every(hasBeenAsked)) missing.push(part.text());
  }
  return { report, people, missing };
}

/** A signer of a row, and whether they have signed. */
interface RosterLine extends RosterEntry {
  row: number;
  email: string;
  name: string | null;
  role: string | null;
}

const COLUMNS: readonly TableColumn<RosterLine>[] = [
  { key: 'row', fixed: true },
  { key: 'email' },
  { key: 'name' },
  { key: 'role' },
  { key: 'state', fixed: true },
  { key: 'envelopeId', header: 'ENVELOPE', fixed: true },
  { key: 'signedAt', header: 'SIGNED' },
];

/** The list of who has signed, with a line for each signer. */
const rosterList: ListView<RosterLine> = {
  id: ({ envelopeId }) => envelopeId ?? '',
  empty: 'The list has no rows.',
  columns: COLUMNS,
};
