import { EsignCommand } from '../../../cli/command.ts';
import { requiredArg } from '../../../cli/flags.ts';
import { replaceFlags } from './replace-flags.ts';
import { replaceFromFlags } from './run-replacements.ts';

export default class EnvelopesReplace extends EsignCommand {
  static override summary = 'Correct a signer, text, or date by replacing the envelope.';
  static override description =
    "An envelope can't be changed after it is created. This command creates a draft copy with your changes, cancels the original, and then sends the copy. If it is interrupted, run the same command again to continue. The two are never active at the same time, and the replacement is emailed only once. EXPIRED, DECLINED, and CANCELLED envelopes can also be replaced. On a terminal, you are prompted for what to correct. SIGNER is as in `envelopes create`: 'Ada Lovelace <a@b.c>', also with ;role=ROLE and ;order=N.";
  static override examples = [
    '<%= config.bin %> envelopes replace env_123 --subject "Lease, corrected"',
    "<%= config.bin %> envelopes replace env_123 --signer adda@example.com='Ada Lovelace <ada@example.com>'",
    '<%= config.bin %> envelopes replace env_123 --remove-signer bo@example.com --add-signer "Cy <cy@example.com>;role=Landlord"',
    '<%= config.bin %> envelopes replace env_123 --expires-in-days 14 --dry-run',
  ];
  static override args = {
    id: requiredArg('ID of the envelope to replace'),
  };
  static override flags = replaceFlags;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EnvelopesReplace);
    await replaceFromFlags(args.id, flags, this.context(flags));
  }
}
