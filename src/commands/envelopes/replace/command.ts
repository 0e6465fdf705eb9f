import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { confirmFlag, dryRunFlag, messageFileFlag, missingRolesFlag, yesFlag } from '../../../cli/flags.ts';
import { replaceFromFlags } from './run.ts';

const text = (description: string, helpValue: string, helpGroup?: string) =>
  Flags.string({ description, helpValue, ...(helpGroup ? { helpGroup } : {}) });
const several = (description: string, helpValue: string) =>
  Flags.string({ description, helpValue, multiple: true, multipleNonGreedy: true, helpGroup: 'SIGNER' });

export default class EnvelopesReplace extends EsignCommand {
  static override summary = 'Correct a signer, text, or date by replacing the envelope.';
  static override description =
    "An envelope can't be changed after it is created. This command creates a draft copy with your changes, cancels the original, and then sends the copy. If it is interrupted, run the same command again to continue. The two are never active at the same time, and the replacement is emailed only once. EXPIRED, DECLINED, and CANCELLED envelopes can also be replaced.";
  static override examples = [
    "<%= config.bin %> envelopes replace env_123 --signer adda@example.com='Ada Lovelace <ada@example.com>'",
    '<%= config.bin %> envelopes replace env_123 --remove-signer bo@example.com --add-signer "Cy <cy@example.com>;role=Landlord"',
    '<%= config.bin %> envelopes replace env_123 --expires-in-days 14',
    '<%= config.bin %> envelopes replace env_123 --subject "Lease, corrected" --dry-run',
  ];
  static override args = {
    id: Args.string({ description: 'ID of the envelope to replace', required: true, ignoreStdin: true }),
  };
  static override flags = {
    signer: several(
      'signer to replace, by email address or ID, and the new signer; can be repeated',
      'OLD=MAILBOX',
    ),
    'add-signer': several('signer to add; can be repeated', 'MAILBOX'),
    'remove-signer': several('email address or ID of a signer to remove; can be repeated', 'OLD'),
    'expires-in-days': Flags.integer({
      description: 'days until it expires (default: the same period as the original)',
      min: 1,
      helpValue: 'N',
    }),
    subject: text('email subject', 'TEXT', 'EMAIL'),
    message: Flags.string({
      description: 'email message',
      helpValue: 'TEXT',
      exclusive: ['message-file'],
      helpGroup: 'EMAIL',
    }),
    'message-file': messageFileFlag,
    template: text('template to use instead of the original', 'ID'),
    'webhook-secret-file': text(
      'file with the secret that signs the webhooks (or set ESIGN_WEBHOOK_SECRET; default: the stored secret)',
      'FILE',
      'WEBHOOK',
    ),
    reason: text('reason for canceling the original, stored with it', 'TEXT'),
    draft: Flags.boolean({
      description: 'only create the replacement as a draft; run again without --draft to finish',
    }),
    'even-if-signed': Flags.boolean({
      description: 'replace it even if someone has signed and must sign again',
    }),
    'allow-missing-roles': missingRolesFlag,
    'request-id': text('request ID for the replacement', 'KEY'),
    quiet: Flags.boolean({
      char: 'q',
      description: "print only the replacement's ID",
      exclusive: ['json'],
    }),
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EnvelopesReplace);
    await replaceFromFlags(args.id, flags, this.context(flags));
  }
}
