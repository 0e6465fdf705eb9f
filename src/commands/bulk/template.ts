import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { exampleFile } from '../../bulk/rows/example.ts';
import { EsignCommand } from '../../cli/command.ts';
import { writeNewFile } from '../../cli/new-file.ts';
import { writeJson } from '../../output/json.ts';
import { rolesOf } from '../../templates/roles.ts';

export default class BulkTemplate extends EsignCommand {
  static override summary = 'Write an example file to fill in, with the roles of a template.';
  static override examples = [
    '<%= config.bin %> bulk template leases.csv --template tmpl_lease',
    '<%= config.bin %> bulk template leases.jsonl --template tmpl_lease',
    '<%= config.bin %> bulk template - > example.csv',
  ];
  static override args = {
    file: Args.string({
      description: 'CSV, or JSON Lines when it ends in .jsonl; - for stdout',
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    template: Flags.string({ description: 'template whose roles it takes', helpValue: 'ID' }),
    force: Flags.boolean({ description: 'replace a file that is there' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkTemplate);
    const context = this.context(flags);
    const client = flags.template === undefined ? undefined : await context.client();
    const template = await client?.templates.get(flags.template ?? '', context.signal);
    const roles = client && template ? (await rolesOf(client, template, context.signal)).names : [];
    const text = exampleFile(/\.jsonl$/.test(args.file) ? 'jsonl' : 'csv', flags.template, roles);
    await writeNewFile(args.file, text, flags.force, context);
    if (args.file === '-') return;
    context.notice(`Written: ${args.file}. Fill it in, then: esign bulk create ${args.file} --dry-run`);
    if (context.json) await writeJson({ path: args.file }, context.terminal);
  }
}
