import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { envelopeArg, textFlag } from '../../cli/flags.ts';
import { writeEnvelopeAction } from '../../envelopes/commands/envelope-text.ts';

export default class SandboxDecline extends EsignCommand {
  static override summary = 'Decline to sign an envelope in the sandbox.';
  static override examples = [
    '<%= config.bin %> sandbox decline env_123 --reason "the rent is wrong"',
    '<%= config.bin %> sandbox decline env_123 --signer ada@example.com',
    '<%= config.bin %> sandbox decline env_123 --json',
  ];
  static override args = envelopeArg;
  static override flags = {
    signer: textFlag('ID|EMAIL', 'signer to decline as (default: the next signer)'),
    reason: Flags.string({ description: 'reason', default: 'Declined in the sandbox', helpValue: 'TEXT' }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(SandboxDecline);
    const { signer, reason } = flags;
    const sandbox = await context.session.sandbox();
    const declined = await sandbox.decline(args.envelope, { signer, reason });
    await writeEnvelopeAction('Declined', declined, context.terminal);
  }
}
