import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { verifyAll } from '../../cli/documents/verify.ts';

export default class DocumentsVerify extends EsignCommand {
  static override summary = 'Check downloaded files: their SHA256SUMS, and the seal inside each PDF.';
  static override description =
    'Nothing is fetched. Of a folder, all files of its list and the PDFs beside them are checked. Ends with 9 when a file is missing or changed, when something was added after it was sealed, or when the seal is another than the one first seen with this profile; each is named. A file without a seal is fine unless --require-seal is given, which scripts should use: a seal can be taken out.';
  static override examples = [
    '<%= config.bin %> documents verify archive',
    '<%= config.bin %> documents verify lease.pdf --require-seal',
    "<%= config.bin %> documents verify archive --json | jq -r 'select(.error != null) | .path'",
    '<%= config.bin %> documents verify && tar -czf papers.tgz .',
  ];
  static override strict = false;
  static override args = {
    path: Args.string({
      description: 'folders or files (default: this folder)',
      ignoreStdin: true,
    }),
  };
  static override flags = {
    'require-seal': Flags.boolean({ description: 'take a file without a seal as failed' }),
    trust: Flags.string({
      description: 'certificates of authorities in PEM: seals that lead to one of them are trusted',
      helpValue: 'FILE',
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocumentsVerify);
    const places = argv.length === 0 ? ['.'] : argv.map(String);
    await verifyAll(places, flags, this.context(flags));
  }
}
