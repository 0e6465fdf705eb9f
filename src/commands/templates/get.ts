import { EsignCommand } from '../../cli/command.ts';
import { requiredArg } from '../../cli/flags.ts';
import { writeJson } from '../../output/json.ts';
import { findTemplate } from '../../templates/find.ts';
import { rolesOf } from '../../templates/roles.ts';
import { renderTemplate } from './view.ts';

export default class TemplatesGet extends EsignCommand {
  static override summary = 'Show a template: its roles, and its fields by page.';
  static override examples = [
    '<%= config.bin %> templates get tmpl_lease',
    '<%= config.bin %> templates get tmpl_lease --json',
    '<%= config.bin %> templates get tmpl_lease --json | jq ".fields | length"',
  ];
  static override args = {
    id: requiredArg('template ID or name'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesGet);
    const context = this.context(flags);
    const client = await context.session.client();
    const template = await findTemplate(client, args.id, context.interrupt.signal);
    const out = context.terminal.hidingSecrets();
    if (context.terminal.json) return writeJson(template, out);
    const roles = await rolesOf(client, template, context.interrupt.signal);
    await out.out(renderTemplate(template, roles, context.terminal));
  }
}
