import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { changePins } from '../../cli/documents/pins.ts';
import { listFlags } from '../../cli/flags.ts';

export default class DocumentsPins extends EsignCommand {
  static override summary = 'The seals that are known: first seen with a profile, or accepted.';
  static override description =
    'The first download of a sealed paper pins the certificate that sealed it, for the profile and its address; a paper with another seal is then pointed out. Accept the new one when the service has renewed its certificate and says so.';
  static override examples = [
    '<%= config.bin %> documents pins',
    '<%= config.bin %> documents pins --accept 3f7a…',
    '<%= config.bin %> documents pins --forget 3f7a',
  ];
  static override flags = {
    accept: Flags.string({
      description: 'pin this seal, too',
      helpValue: 'FINGERPRINT',
      exclusive: ['forget'],
    }),
    forget: Flags.string({ description: 'take this seal out', helpValue: 'FINGERPRINT' }),
    'dry-run': Flags.boolean({ description: 'change nothing' }),
    csv: listFlags.csv,
    fields: listFlags.fields,
    quiet: listFlags.quiet,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DocumentsPins);
    await changePins(flags, this.context(flags));
  }
}
