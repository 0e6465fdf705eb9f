import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { gatherEvidence } from '../../cli/envelopes/evidence/evidence.ts';
import { durationFlag } from '../../cli/flags.ts';

export default class EnvelopesEvidence extends EsignCommand {
  static override summary = 'Gather in one folder all that is known of an envelope, for a dispute.';
  static override description =
    'The papers with the verdict on their seals, the envelope as the service sent it, the webhooks received here with their signatures, the reminders sent from here, SHA256SUMS over all of it, and a page to print. Run again, it writes the same bytes, or adds what has happened since. No secret gets into it. Before an envelope is completed it holds what there is, and says what is missing. Ends with 9 when a paper can’t be had or must not be believed; the folder is written all the same.';
  static override examples = [
    '<%= config.bin %> envelopes evidence env_123 --dir evidence',
    "<%= config.bin %> envelopes evidence env_123 --dir evidence --json | jq -r '.papers[].seal.state'",
    '<%= config.bin %> envelopes evidence env_123 --dir evidence && (cd evidence && sha256sum -c SHA256SUMS)',
  ];
  static override args = {
    id: Args.string({ description: 'envelope id', required: true, ignoreStdin: true }),
  };
  static override flags = {
    dir: Flags.string({
      description: 'folder of its own for the evidence',
      required: true,
      helpValue: 'DIR',
    }),
    force: Flags.boolean({ description: 'replace files that are different' }),
    wait: durationFlag({
      description: 'how long to wait for a paper that is not there yet (default 30s)',
      helpValue: '30s',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EnvelopesEvidence);
    await gatherEvidence(args.id, flags, this.context(flags));
  }
}
