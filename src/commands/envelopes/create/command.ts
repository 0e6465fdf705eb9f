import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import {
  confirmFlag,
  dryRunFlag,
  inGroup,
  messageFileFlag,
  missingRolesFlag,
  readFlags,
  yesFlag,
} from '../../../cli/flags.ts';
import { createFromFlags } from './run.ts';

export default class EnvelopesCreate extends EsignCommand {
  static override summary = 'Create an envelope from a template, as a draft or sent immediately.';
  static override description =
    "A signer is an email address with options: a@b.c, 'Ada Lovelace <a@b.c>', or 'Ada Lovelace <a@b.c>;role=Tenant;order=1'. On a terminal, you are prompted for anything the flags leave out. Running the command again with the same --request-id never creates a second envelope.";
  static override examples = [
    '<%= config.bin %> envelopes create',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c',
    "<%= config.bin %> envelopes create --template tmpl_lease --signer 'Ada Lovelace <ada@example.com>;role=Tenant' --signer 'Bo Li <bo@example.com>;role=Landlord' --send",
    '<%= config.bin %> envelopes create --template tmpl_nda --signers-file signers.csv --metadata deal=4711 --request-id deal-4711',
    'ID=$(<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c -q)',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c --dry-run',
  ];
  static override flags = {
    template: Flags.string({ description: 'template to use', helpValue: 'ID' }),
    ...inGroup('SIGNER', {
      signer: Flags.string({
        description: 'signer; can be repeated, up to 20 times',
        multiple: true,
        multipleNonGreedy: true,
        helpValue: 'SIGNER',
      }),
      'signers-file': Flags.string({
        description: 'signers as CSV or .xlsx (email,name,role,order), or JSON',
        helpValue: 'FILE',
      }),
    }),
    encoding: { ...readFlags.encoding, dependsOn: ['signers-file'] },
    sheet: { ...readFlags.sheet, dependsOn: ['signers-file'] },
    ...inGroup('EMAIL', {
      subject: Flags.string({ description: 'email subject', helpValue: 'TEXT' }),
      message: Flags.string({
        description: 'email message',
        helpValue: 'TEXT',
        exclusive: ['message-file'],
      }),
    }),
    'message-file': messageFileFlag,
    metadata: Flags.string({
      description: 'key=value stored with the envelope; can be repeated',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'K=V',
    }),
    'metadata-file': Flags.string({ description: 'read metadata from a JSON file', helpValue: 'FILE' }),
    ...inGroup('WEBHOOK', {
      'webhook-url': Flags.string({ description: 'URL to deliver webhook events to', helpValue: 'URL' }),
      'webhook-secret-file': Flags.string({
        description:
          'file with the secret that signs the webhooks (or set ESIGN_WEBHOOK_SECRET; default: a new one, stored for `listen`)',
        helpValue: 'FILE',
      }),
    }),
    'expires-in-days': Flags.integer({
      description: 'days until it expires (default 30)',
      min: 1,
      helpValue: 'N',
    }),
    'signing-order': Flags.string({
      description: 'one signer after the other, or all at the same time',
      options: ['sequential', 'parallel'],
      helpValue: 'sequential|parallel',
      helpGroup: 'SIGNER',
    }),
    send: Flags.boolean({ description: 'send the envelope to its signers immediately' }),
    'request-id': Flags.string({
      description: 'idempotency key: the same ID never creates a second envelope',
      helpValue: 'KEY',
    }),
    'allow-missing-roles': missingRolesFlag,
    quiet: Flags.boolean({ char: 'q', description: 'print only the envelope ID', exclusive: ['json'] }),
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EnvelopesCreate);
    await createFromFlags(flags, this.context(flags));
  }
}
