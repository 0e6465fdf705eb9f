import * as Flags from '@oclif/core/flags';
import type { Template } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { limited } from '../../cli/limited.ts';
import { writeList } from '../../output/list.ts';
import { templateList } from '../../output/template-view.ts';
import { searchTemplates } from '../../templates/search.ts';

export default class TemplatesList extends EsignCommand {
  static override summary = 'List the templates envelopes can be made from.';
  static override examples = [
    '<%= config.bin %> templates list',
    '<%= config.bin %> templates list --search lease',
    '<%= config.bin %> templates list --all --json | jq -r ".[].id"',
  ];
  static override flags = {
    ...listFlags,
    search: Flags.string({
      description: 'only templates whose name, description or id contains this',
      helpValue: 'TEXT',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(TemplatesList);
    const around = this.surroundings(flags);
    const client = await around.client();
    const templates = searchTemplates(client, {
      search: flags.search,
      pageSize: limited.pageSize(flags, flags.search === undefined),
      signal: around.signal,
    });
    await writeList<Template>(
      limited.take(templates, flags, around),
      templateList(around.clock.now()),
      flags,
      around.terminal,
    );
  }
}
