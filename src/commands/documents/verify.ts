import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { verifyAll } from '../../cli/documents/verify.ts';

export default class DocumentsVerify extends EsignCommand {
  static override summary = 'Check downloaded files against the SHA256SUMS of their folder.';
  static override description =
    'Nothing is fetched. Ends with 9 when a file is missing or changed, each of which is named.';
  static override examples = [
    '<%= config.bin %> documents verify archive',
    '<%= config.bin %> documents verify archive --json | jq -r \'select(.status == "failed") | .path\'',
    '<%= config.bin %> documents verify && tar -czf papers.tgz .',
  ];
  static override args = {
    dir: Args.string({ description: 'the folder', default: '.', ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsVerify);
    await verifyAll(args.dir, this.context(flags));
  }
}
