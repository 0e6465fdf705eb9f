import { EsignCommand } from '../../cli/command.ts';
import { envelopeArg, textFlag } from '../../cli/flags.ts';
import { writeEnvelopeAction } from '../../envelopes/commands/envelope-text.ts';

export default class SandboxView extends EsignCommand {
  static override summary = 'Open an envelope in the sandbox as a signer would, without signing.';
  static override examples = [
    '<%= config.bin %> sandbox view env_123',
    '<%= config.bin %> sandbox view env_123 --signer ada@example.com',
    '<%= config.bin %> sandbox view env_123 --json',
  ];
  static override args = envelopeArg;
  static override flags = {
    signer: textFlag('ID|EMAIL', 'signer to open it as (default: the next signer)'),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(SandboxView);
    const sandbox = await context.session.sandbox();
    const viewed = await sandbox.view(args.envelope, flags.signer);
    await writeEnvelopeAction('Viewed', viewed, context.terminal);
  }
}
