import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { writeVerified } from '../../cli/downloading.ts';
import { verifyManifest } from '../../documents/manifest.ts';

export default class DocumentsVerify extends EsignCommand {
  static override summary = 'Check downloaded files against the SHA256SUMS beside them.';
  static override description =
    'Every file is read and hashed anew; `sha256sum -c SHA256SUMS` gives the same answer.';
  static override examples = [
    '<%= config.bin %> documents verify',
    '<%= config.bin %> documents verify archive',
    '<%= config.bin %> documents verify archive --json | jq -r "select(.error) | .path"',
  ];
  static override args = {
    dir: Args.string({ description: 'folder of the files', default: '.', ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsVerify);
    const around = this.surroundings(flags);
    await writeVerified(verifyManifest(args.dir), around);
  }
}
