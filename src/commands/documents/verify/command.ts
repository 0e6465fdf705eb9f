import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { verifyAll } from './run.ts';

export default class DocumentsVerify extends EsignCommand {
  static override summary = 'Verify downloaded documents: checksums (SHA256SUMS) and PDF seals.';
  static override description =
    'Works offline. In a folder, checks every listed file and every PDF, including subfolders. Each file must match every SHA256SUMS that lists it, from its own folder upward. Files that are not listed are counted, and fail with --require-list. Exits with 9 if a file is missing or changed, if something was added after it was sealed, or if the seal is not the one pinned for this profile. Once a seal is pinned, signed documents and certificates without a seal also fail. Use --require-seal in scripts, because a seal can be removed. The unsigned original (*.document.pdf in the list) needs no seal.';
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
    'require-seal': Flags.boolean({ description: 'reject files that are not sealed PDFs' }),
    'require-list': Flags.boolean({ description: 'reject files that are not listed in any SHA256SUMS' }),
    trust: Flags.string({
      description: 'PEM file with accepted certificate authorities; other seals fail',
      helpValue: 'FILE',
    }),
    'sealed-by': Flags.string({
      description: 'SHA-256 of an accepted seal certificate; other seals fail; can be repeated',
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
