import { EsignCommand } from '../../cli/command.ts';
import { requiredArg, textFlag } from '../../cli/flags.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { UsageError } from '../../kernel/errors.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { csvRecord } from '../../tables/csv-records.ts';
import { rolesOf } from '../../templates/roles.ts';

export default class BulkTemplate extends EsignCommand {
  static override summary = 'Write an example CSV or JSON Lines file for `bulk create`.';
  static override examples = [
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk template leases.jsonl --template tmpl_lease',
    '<%= config.bin %> bulk template - > example.csv',
  ];
  static override args = {
    file: requiredArg('file to write: CSV, or JSON Lines if it ends in .jsonl; `-` for stdout'),
  };
  static override flags = {
    template: textFlag('ID', 'template whose roles the file should contain'),
  };

  async run(): Promise<void> {
    const { args, flags, session, terminal, interrupt } = await this.start(BulkTemplate);
    if (/\.xlsx?$/i.test(args.file))
      throw new UsageError(`${args.file} would be CSV, not a spreadsheet.`, {
        hint: 'Use a name that ends in .csv, and open the file in your spreadsheet program.',
      });
    const client = flags.template === undefined ? undefined : await session.client();
    const template = await client?.templates.get(flags.template ?? '', interrupt.signal);
    const roles = client && template ? (await rolesOf(client, template, interrupt.signal)).names : [];
    const text = exampleFile(/\.jsonl$/.test(args.file) ? 'jsonl' : 'csv', flags.template, roles);
    await writeNewFile(args.file, text, false, terminal);
    if (args.file === '-') return;
    terminal.notice(
      `Created ${args.file}. Fill it in, then run \`${command('bulk', 'create', args.file, '--dry-run')}\`.`,
    );
    if (terminal.json) await writeJson({ path: args.file }, terminal);
  }
}

const PEOPLE = [
  ['ada@example.com', 'Ada Lovelace'],
  ['bo@example.com', 'Bo Li'],
  ['zoe@example.com', 'Zoë Müller'],
  ['lukasz@example.com', 'Łukasz Řehoř'],
] as const;

/** Returns an example file of two rows to fill in, with a signer for each role of the template. */
function exampleFile(
  format: 'csv' | 'jsonl',
  template: string | undefined,
  roles: readonly string[],
): string {
  const templateId = template ?? 'tmpl_…';
  const rows = [0, 1].map((row) =>
    (roles.length > 0 ? roles : ['']).map((role, index): Person => {
      const [email, name] = PEOPLE[(row * Math.max(1, roles.length) + index) % PEOPLE.length] ?? PEOPLE[0];
      return { email, name, ...(role === '' ? {} : { role }) };
    }),
  );
  return format === 'jsonl' ? jsonExample(rows, templateId) : csvExample(rows, templateId);
}

type Person = Record<'email' | 'name', string> & { role?: string };

function jsonExample(rows: readonly Person[][], templateId: string): string {
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

function csvExample(rows: readonly Person[][], templateId: string): string {
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
  return [header, ...records.map(Object.values<string>)].map((cells) => csvRecord(cells, ',')).join('');
}

function signerCells(signers: readonly Person[]): Record<string, string> {
  const prefixOf = (index: number) => (signers.length > 1 ? `signer${index + 1}_` : '');
  return Object.fromEntries(
    signers.flatMap((signer, index) =>
      Object.entries(signer).map(([field, value]) => [`${prefixOf(index)}${field}`, value]),
    ),
  );
}
