import { rolesOf } from '../../catalog/template-roles.ts';
import { EsignCommand } from '../../cli/command.ts';
import { forceFlag, requiredArg, textFlag } from '../../cli/flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { UsageError } from '../../kernel/errors.ts';
import { checkNewFile, formatOf, writeNewFile } from '../../kernel/files/new-file.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { TABLE_FORMATS } from '../../output/new-table.ts';
import { csvRecord } from '../../tables/csv-text.ts';

export default class BulkTemplate extends EsignCommand {
  static override summary = 'Write an example workbook, CSV, or JSON Lines file for `bulk create`.';
  static override examples = [
    '<%= config.bin %> bulk template leases.xlsx --template tmpl_lease',
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk template leases.jsonl --template tmpl_lease',
    '<%= config.bin %> bulk template - > example.csv',
  ];
  static override args = {
    file: requiredArg('file to write, which ends in .xlsx, .csv, or .jsonl; `-` for CSV on stdout'),
  };
  static override flags = {
    template: textFlag('ID', 'template whose roles the file should contain'),
    force: forceFlag(),
  };

  async run(): Promise<void> {
    const { args, flags, session, terminal, interrupt } = await this.start(BulkTemplate);
    const { file } = args;
    if (file === '-' && terminal.json)
      throw new UsageError('--json and the file would both be written to stdout.', {
        hint: 'Use the name of a file instead of -.',
      });
    const write = file === '-' ? undefined : exampleWriter(file, flags.force, terminal);
    const client = flags.template === undefined ? undefined : await session.client();
    const template = await client?.templates.get(flags.template ?? '', interrupt.signal);
    const roles = client && template ? (await rolesOf(client, template, interrupt.signal)).names : [];
    const example = { rows: exampleRows(roles), templateId: flags.template ?? 'tmpl_…' };
    if (write === undefined)
      return terminal.out(
        tableExample(example)
          .map((cells) => csvRecord(cells))
          .join(''),
      );
    await write(example);
    terminal.notice(
      `Created ${file}. Fill it in, then run \`${command('bulk', 'create', file, '--dry-run')}\`.`,
    );
    if (terminal.json) await writeJson({ path: file }, terminal);
  }
}

/** The rows of an example file: the signers of each. */
interface Example {
  rows: readonly ExampleSigner[][];
  templateId: string;
}

/** Returns what writes an example to a file. @throws UsageError if the file can't be created. */
function exampleWriter(
  path: string,
  force: boolean,
  terminal: CommandTerminal,
): (example: Example) => Promise<unknown> {
  if (formatOf(path, [...TABLE_FORMATS, 'jsonl']) === 'jsonl') {
    checkNewFile(path, force);
    return (example) => writeNewFile(path, jsonExample(example), force);
  }
  const table = outputTable({ output: path, force }, terminal);
  return async (example) => {
    for (const cells of tableExample(example)) table?.add(cells.map((text) => ({ text, isOwn: true })));
    await table?.save();
  };
}

const PEOPLE = [
  ['ada@example.com', 'Ada Lovelace'],
  ['bo@example.com', 'Bo Li'],
  ['zoe@example.com', 'Zoë Müller'],
  ['lukasz@example.com', 'Łukasz Řehoř'],
] as const;

/** Returns the signers of two rows to fill in: one for each role of the template. */
function exampleRows(roles: readonly string[]): ExampleSigner[][] {
  return [0, 1].map((row) =>
    (roles.length > 0 ? roles : ['']).map((role, index): ExampleSigner => {
      const [email, name] = PEOPLE[(row * Math.max(1, roles.length) + index) % PEOPLE.length] ?? PEOPLE[0];
      return { email, name, ...(role === '' ? {} : { role }) };
    }),
  );
}

type ExampleSigner = Record<'email' | 'name', string> & { role?: string };

function jsonExample({ rows, templateId }: Example): string {
  const lines = rows.map((signers, index) => ({
    requestId: null,
    templateId,
    subject: 'Please sign',
    expiresInDays: 30,
    metadata: { customer: `C-${index + 1}` },
    signers,
  }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Returns the header and the rows of a table. */
function tableExample({ rows, templateId }: Example): string[][] {
  const records = rows.map((signers, index) => ({
    // Leave it empty: a request ID from an example would be copied into every list.
    request_id: '',
    template_id: templateId,
    ...signerCells(signers),
    subject: 'Please sign',
    expires_in_days: '30',
    'meta.customer': `C-${index + 1}`,
  }));
  const header = Object.keys(records[0] ?? {});
  return [header, ...records.map(Object.values<string>)];
}

function signerCells(signers: readonly ExampleSigner[]): Record<string, string> {
  const prefixOf = (index: number) => (signers.length > 1 ? `signer${index + 1}_` : '');
  return Object.fromEntries(
    signers.flatMap((signer, index) =>
      Object.entries(signer).map(([field, value]) => [`${prefixOf(index)}${field}`, value]),
    ),
  );
}
