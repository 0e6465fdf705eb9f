import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { exampleFile } from '../../bulk/rows/example.ts';
import { EsignCommand } from '../../cli/command.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { rolesOf } from '../../templates/roles.ts';

export default class BulkTemplate extends EsignCommand {
  static override summary = 'Write an example CSV or JSON Lines file for `bulk create`.';
  static override examples = [
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk template leases.jsonl --template tmpl_lease',
    '<%= config.bin %> bulk template - > example.csv',
  ];
  static override args = {
    file: Args.string({
      description: 'file to write: CSV, or JSON Lines if it ends in .jsonl; `-` for stdout',
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    template: Flags.string({ description: 'template whose roles the file should contain', helpValue: 'ID' }),
    force: Flags.boolean({ description: 'replace an existing file' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkTemplate);
    const context = this.context(flags);
    const client = flags.template === undefined ? undefined : await context.session.client();
    const template = await client?.templates.get(flags.template ?? '', context.interrupt.signal);
    const roles = client && template ? (await rolesOf(client, template, context.interrupt.signal)).names : [];
    const text = exampleFile(/\.jsonl$/.test(args.file) ? 'jsonl' : 'csv', flags.template, roles);
    await writeNewFile(args.file, text, flags.force, context.terminal);
    if (args.file === '-') return;
    context.terminal.notice(
      `Created ${args.file}. Fill it in, then run \`${command('bulk', 'create', args.file, '--dry-run')}\`.`,
    );
    if (context.terminal.json) await writeJson({ path: args.file }, context.terminal);
  }
}
