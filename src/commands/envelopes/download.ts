import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { downloadAll, downloadFlags, patienceOf } from '../../cli/downloading.ts';
import { papersFlag } from '../../cli/flags.ts';
import { readIdsOrSelect, selectionFlags, selectionOf } from '../../cli/selecting.ts';
import { locateAll, locatePaper } from '../../documents/fetch.ts';
import { checkNameTemplate } from '../../documents/name-template.ts';

export default class EnvelopesDownload extends EsignCommand {
  static override summary = 'Fetch the signed PDF and its certificate from your bucket.';
  static override examples = [
    '<%= config.bin %> envelopes download env_123',
    '<%= config.bin %> envelopes download env_123 --what signed -o contract.pdf',
    '<%= config.bin %> envelopes download --status COMPLETED --since 30d --dir archive',
    "<%= config.bin %> envelopes download --status COMPLETED --dir archive --name-template '{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf'",
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    what: papersFlag({
      description: 'which files: signed, certificate, document (default signed,certificate)',
      helpValue: 'A,B',
    }),
    'name-template': Flags.string({
      description: 'names and folders below --dir, such as {completedAt:yyyy-MM}/{envelopeId}.{what}.pdf',
      helpValue: 'TEXT',
    }),
    ...selectionFlags,
    ...downloadFlags,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesDownload);
    const around = this.surroundings(flags);
    const template = flags['name-template'];
    if (template !== undefined) checkNameTemplate(template);
    const client = await around.client();
    const ids = await readIdsOrSelect(argv.map(String), client, selectionOf(flags), around);
    const patience = patienceOf(flags, around);
    const papers = flags.what ?? ['signed', 'certificate'];
    const wishes = ids.flatMap((envelopeId) =>
      papers.map((what) => ({
        envelopeId,
        what,
        key: null,
        locate: () => locatePaper(client, envelopeId, what, patience, template),
      })),
    );
    // With names of their own, two files could get the same one: that must be known before any is fetched.
    const located = template === undefined ? wishes : await locateAll(wishes, flags.concurrency);
    await downloadAll(located, flags, around);
  }
}
