import { rolesOf } from '../../catalog/template-roles.ts';
import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, requiredArg } from '../../cli/flags.ts';
import { writeJson } from '../../output/json.ts';
import { renderTemplate } from './template-text.ts';

export default class TemplatesGet extends EsignCommand {
  static override summary = 'Show a template: its roles, its size, and its fields.';
  static override examples = [
    '<%= config.bin %> templates get tmpl_lease',
    '<%= config.bin %> templates get tmpl_lease --json',
    '<%= config.bin %> templates get tmpl_lease --json | jq ".fields | length"',
  ];
  static override args = {
    id: requiredArg('template ID'),
  };

  static override flags = { all: booleanFlag('also show its fields by page (always shown in a pipe)') };

  async run(): Promise<void> {
    const { args, flags, session, terminal, interrupt } = await this.start(TemplatesGet);
    const client = await session.client();
    const template = await client.templates.get(args.id, interrupt.signal);
    const out = terminal.hidingSecrets();
    if (terminal.json) return writeJson(template, out);
    const roles = await rolesOf(client, template, interrupt.signal);
    await out.out(renderTemplate(template, roles, flags.all, terminal));
  }
}
