import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { replaceFromFlags } from '../../cli/envelopes/replace/replace.ts';
import { dryRunFlag, missingRolesFlag, yesFlag } from '../../cli/flags.ts';

const text = (description: string, helpValue: string, helpGroup?: string) =>
  Flags.string({ description, helpValue, ...(helpGroup ? { helpGroup } : {}) });
const several = (description: string, helpValue: string) =>
  Flags.string({ description, helpValue, multiple: true, multipleNonGreedy: true, helpGroup: 'SIGNER' });

export default class EnvelopesReplace extends EsignCommand {
  static override summary = 'Put a wrong signer, text or date right: a new envelope in place of the old one.';
  static override description =
    'An envelope cannot be changed once it is made. This makes a draft of a new one that is as the old one but for what you change, cancels the old one, and sends the new one. Whatever ends it in between, the same command goes on; never are both sent, and nobody is mailed twice by the new one. One that has EXPIRED, or was DECLINED or CANCELLED, is sent again the same way.';
  static override examples = [
    "<%= config.bin %> envelopes replace env_123 --signer adda@example.com='Ada Lovelace <ada@example.com>'",
    '<%= config.bin %> envelopes replace env_123 --remove-signer bo@example.com --add-signer "Cy <cy@example.com>;role=Landlord"',
    '<%= config.bin %> envelopes replace env_123 --expires-in-days 14',
    '<%= config.bin %> envelopes replace env_123 --subject "Lease, corrected" --dry-run',
  ];
  static override args = {
    id: Args.string({ description: 'the envelope to replace', required: true, ignoreStdin: true }),
  };
  static override flags = {
    signer: several('somebody else in the place of a signer, who is named by address or id', 'OLD=MAILBOX'),
    'add-signer': several('one more signer', 'MAILBOX'),
    'remove-signer': several('a signer who is not to sign, by address or id', 'OLD'),
    'expires-in-days': Flags.integer({
      description: 'days until it expires (as long as the old one had)',
      min: 1,
      helpValue: 'N',
    }),
    subject: text('subject of the mail', 'TEXT', 'MAIL'),
    message: Flags.string({
      description: 'message in the mail',
      helpValue: 'TEXT',
      exclusive: ['message-file'],
      helpGroup: 'MAIL',
    }),
    'message-file': text('message from a file', 'FILE', 'MAIL'),
    template: text('another template', 'ID'),
    'webhook-secret-file': text(
      'file with the secret that signs the deliveries; without it the one that is kept here, or ESIGN_WEBHOOK_SECRET',
      'FILE',
      'WEBHOOK',
    ),
    reason: text('why the old one is cancelled, for the record', 'TEXT'),
    draft: Flags.boolean({
      description: 'make the new one and leave the old one alone; without it the job is ended',
    }),
    'even-if-signed': Flags.boolean({
      description: 'go on although somebody has signed, and must sign again',
    }),
    'allow-missing-roles': missingRolesFlag,
    'request-id': text('request id of the new one', 'KEY'),
    quiet: Flags.boolean({ char: 'q', description: "print the new one's id only", exclusive: ['json'] }),
    yes: yesFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EnvelopesReplace);
    await replaceFromFlags(args.id, flags, this.context(flags));
  }
}
