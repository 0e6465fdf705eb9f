import type { Template } from '../../api/resource-types.ts';
import { EsignCommand } from '../../cli/command.ts';
import { listFlags, textFlag } from '../../cli/flags.ts';
import { withLimit } from '../../cli/input/limit-flags.ts';
import { writeList } from '../../output/print-list.ts';
import { searchTemplates } from '../search-templates.ts';
import { templateList } from './template-table.ts';

export const templatesListFlags = {
  ...listFlags,
  search: textFlag('TEXT', 'only templates with words that begin with TEXT in the name, description, or ID'),
};

export default class TemplatesList extends EsignCommand {
  static override summary = 'List the templates you can create envelopes from.';
  static override examples = [
    '<%= config.bin %> templates list',
    '<%= config.bin %> templates list --search lease',
    '<%= config.bin %> templates list --all --json | jq -r ".[].id"',
  ];
  static override flags = templatesListFlags;

  async run(): Promise<void> {
    const { flags, context } = await this.start(TemplatesList);
    const client = await context.session.client();
    let total: number | undefined;
    const templates = searchTemplates(client, {
      search: flags.search,
      onTotal: (known) => {
        total = known;
      },
      pageSize: withLimit.pageSize(flags, flags.search === undefined),
      signal: context.interrupt.signal,
    });
    await writeList<Template>(
      withLimit.take(templates, flags, context, () => total),
      templateList(() => context.session.now(), flags.search),
      flags,
      context.terminal.hidingSecrets(),
    );
  }
}
