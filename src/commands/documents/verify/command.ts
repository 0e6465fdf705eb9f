import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { verifyAll } from './run.ts';

export default class DocumentsVerify extends EsignCommand {
  static override summary = 'Verify downloaded documents: checksums (SHA256SUMS) and PDF seals.';
  static override description =
    'Works offline. In a folder, every file in its lists and every PDF is checked, including subfolders. Each file must match every SHA256SUMS that names it, from its own folder upward; files in no list are counted, and fail with --require-list. Exits with 9 when a file is missing or changed, when something was added after it was sealed, or when the seal is not the one first seen with this profile. A file without a seal passes unless --require-seal is given or the profile has a pinned seal and the file is a signed document or a certificate. Use --require-seal in scripts, because a seal can be removed; the unsigned original (*.document.pdf in the list) is exempt.';
  static override examples = [
    '<%= config.bin %> documents verify archive --require-list --require-seal',
    '<%= config.bin %> documents verify lease.pdf --require-seal --trust ca.pem',
    "<%= config.bin %> documents verify archive --json | jq -r 'select(.error != null) | .path'",
    '<%= config.bin %> documents verify && tar -czf documents.tgz .',
  ];
  static override strict = false;
  static override args = {
    path: Args.string({
      description: 'folders or files (default: this folder)',
      ignoreStdin: true,
    }),
  };
  static override flags = {
    'require-seal': Flags.boolean({ description: 'fail files that are not sealed PDFs' }),
    'require-list': Flags.boolean({ description: 'fail files that no SHA256SUMS names' }),
    trust: Flags.string({
      description: 'PEM file of certificate authorities: a seal by anyone they did not certify fails',
      helpValue: 'FILE',
    }),
    'sealed-by': Flags.string({
      description: "SHA-256 of the sealer's certificate: a seal by anyone else fails; can be repeated",
      helpValue: 'FINGERPRINT',
      multiple: true,
      multipleNonGreedy: true,
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocumentsVerify);
    const places = argv.length === 0 ? ['.'] : argv.map(String);
    await verifyAll(places, flags, this.context(flags));
  }
}
