import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { createFromFlags } from '../../cli/envelopes/create/create.ts';
import { dryRunFlag, missingRolesFlag } from '../../cli/flags.ts';

export default class EnvelopesCreate extends EsignCommand {
  static override summary = 'Create an envelope from a template; a draft, or sent at once with --send.';
  static override description =
    "A signer is a mailbox with options: a@b.c, 'Ada Lovelace <a@b.c>', or 'Ada Lovelace <a@b.c>;role=Tenant;order=1'. A run with the same --request-id never creates a second envelope.";
  static override examples = [
    '<%= config.bin %> envelopes create',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c',
    "<%= config.bin %> envelopes create --template tmpl_lease --signer 'Ada Lovelace <ada@example.com>;role=Tenant' --signer 'Bo Li <bo@example.com>;role=Landlord' --send",
    '<%= config.bin %> envelopes create --template tmpl_nda --signers-file signers.csv --metadata deal=4711 --request-id deal-4711',
    'ID=$(<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c -q)',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c --dry-run',
  ];
  static override flags = {
    template: Flags.string({ description: 'template to make it from', helpValue: 'ID' }),
    signer: Flags.string({
      description: 'a signer; repeat for more, up to 20',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'SIGNER',
      helpGroup: 'SIGNER',
    }),
    'signers-file': Flags.string({
      description: 'signers as CSV (email,name,role,order) or JSON',
      helpValue: 'FILE',
      helpGroup: 'SIGNER',
    }),
    subject: Flags.string({ description: 'subject of the mail', helpValue: 'TEXT', helpGroup: 'MAIL' }),
    message: Flags.string({
      description: 'message in the mail',
      helpValue: 'TEXT',
      exclusive: ['message-file'],
      helpGroup: 'MAIL',
    }),
    'message-file': Flags.string({
      description: 'message from a file',
      helpValue: 'FILE',
      helpGroup: 'MAIL',
    }),
    metadata: Flags.string({
      description: 'key=value kept with the envelope; repeat for more',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'K=V',
    }),
    'metadata-file': Flags.string({ description: 'metadata from a JSON object', helpValue: 'FILE' }),
    'webhook-url': Flags.string({
      description: 'where its events are delivered',
      helpValue: 'URL',
      helpGroup: 'WEBHOOK',
    }),
    'webhook-secret-file': Flags.string({
      description:
        'file with the secret that signs the deliveries; or ESIGN_WEBHOOK_SECRET; else one is made and kept for `listen`',
      helpValue: 'FILE',
      helpGroup: 'WEBHOOK',
    }),
    'expires-in-days': Flags.integer({
      description: 'days until it expires (the service: 30)',
      min: 1,
      helpValue: 'N',
    }),
    'signing-order': Flags.string({
      description: 'all at once, or one after the other',
      options: ['sequential', 'parallel'],
      helpValue: 'sequential|parallel',
      helpGroup: 'SIGNER',
    }),
    send: Flags.boolean({ description: 'send it to its signers at once' }),
    'request-id': Flags.string({
      description: 'makes a rerun safe: the same id never creates twice',
      helpValue: 'KEY',
    }),
    'allow-missing-roles': missingRolesFlag,
    quiet: Flags.boolean({ char: 'q', description: 'print the id only', exclusive: ['json'] }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesCreate);
    await createFromFlags(flags, this.context(flags));
  }
}
