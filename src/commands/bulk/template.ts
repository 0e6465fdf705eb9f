import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { exampleFile } from '../../bulk/example.ts';
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
    force: Flags.boolean({ description: 'replace a file that is there', default: false }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BulkTemplate);
    const around = this.surroundings(flags);
    const client = flags.template === undefined ? undefined : await around.client();
    const template = await client?.templates.get(flags.template ?? '', around.signal);
    const roles = client && template ? (await rolesOf(client, template, around.signal)).names : [];
    const text = exampleFile(/\.jsonl$/.test(args.file) ? 'jsonl' : 'csv', flags.template, roles);
    await writeNewFile(args.file, text, { force: flags.force }, around);
    if (around.json && args.file !== '-') await writeJson({ path: args.file }, around.terminal);
  }
}
