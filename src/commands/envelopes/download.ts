import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { downloadAll, downloadFlags, patienceOf } from '../../cli/downloading.ts';
import { papersFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/ids.ts';
import { locatePaper } from '../../documents/fetch.ts';

export default class EnvelopesDownload extends EsignCommand {
  static override summary = 'Fetch the signed PDF and its certificate from your bucket.';
  static override examples = [
    '<%= config.bin %> envelopes download env_123',
    '<%= config.bin %> envelopes download env_123 --what signed -o contract.pdf',
    '<%= config.bin %> envelopes list --status COMPLETED --since 30d -q | <%= config.bin %> envelopes download - --dir archive',
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
    ...downloadFlags,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesDownload);
    const around = this.surroundings(flags);
    const { ids } = await readIds(argv.map(String), 'envelope id');
    const client = await around.client();
    const patience = patienceOf(flags, around);
    const papers = flags.what ?? ['signed', 'certificate'];
    const wishes = ids.flatMap((envelopeId) =>
      papers.map((what) => ({
        envelopeId,
        what,
        key: null,
        locate: () => locatePaper(client, envelopeId, what, patience),
      })),
    );
    await downloadAll(wishes, flags, around);
  }
}
