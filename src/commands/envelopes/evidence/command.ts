import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag } from '../../../cli/flags.ts';
import { gatherEvidence } from './run.ts';

export default class EnvelopesEvidence extends EsignCommand {
  static override summary = 'Export an evidence package for an envelope, for disputes and audits.';
  static override description =
    "Writes everything to one folder: the documents, the results of checking their seals, the envelope as the service returned it, the webhooks received on this machine with their signatures, the reminders sent from this machine, SHA256SUMS, and a page to print. Running it again writes the same files and adds what has happened since. The package contains no secrets. If the envelope is not completed yet, the package lists what is missing. Exits with 9 if a document can't be downloaded or verified; the folder is written anyway.";
  static override examples = [
    '<%= config.bin %> envelopes evidence env_123 --dir evidence',
    "<%= config.bin %> envelopes evidence env_123 --dir evidence --json | jq -r '.papers[].seal.state'",
    '<%= config.bin %> envelopes evidence env_123 --dir evidence && (cd evidence && sha256sum -c SHA256SUMS)',
  ];
  static override args = {
    id: Args.string({ description: 'envelope ID', required: true, ignoreStdin: true }),
  };
  static override flags = {
    dir: Flags.string({
      description: 'output folder: new, empty, or an earlier export',
      required: true,
      helpValue: 'DIR',
    }),
    force: Flags.boolean({ description: 'replace existing files whose content differs' }),
    wait: durationFlag({
      description: 'how long to wait for a document that is not in the bucket yet (default 30s)',
      helpValue: '30s',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EnvelopesEvidence);
    await gatherEvidence(args.id, flags, this.context(flags));
  }
}
