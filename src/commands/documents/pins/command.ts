import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { listFlags } from '../../../cli/flags.ts';
import { changePins } from './run.ts';

export default class DocumentsPins extends EsignCommand {
  static override summary = 'Manage trusted seal certificates: list, accept, or remove pins.';
  static override description =
    'The first download of both the signed document and the certificate for a completed envelope pins the certificate that sealed them, for this profile and base URL. From then on, documents with another seal, or without one, fail. Accept a new certificate only after the service has confirmed it.';
  static override examples = [
    '<%= config.bin %> documents pins',
    '<%= config.bin %> documents pins --accept 3f7a…',
    '<%= config.bin %> documents pins --forget 3f7a',
  ];
  static override flags = {
    accept: Flags.string({
      description: 'trust this certificate as well',
      helpValue: 'FINGERPRINT',
      exclusive: ['forget'],
    }),
    forget: Flags.string({ description: 'stop trusting this certificate', helpValue: 'FINGERPRINT' }),
    'dry-run': Flags.boolean({ description: 'show what would change, without changing it' }),
    csv: listFlags.csv,
    fields: listFlags.fields,
    quiet: listFlags.quiet,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DocumentsPins);
    await changePins(flags, this.context(flags));
  }
}
