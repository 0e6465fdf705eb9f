import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { writeEnvelopeAction } from '../../output/envelope-view.ts';

export default class SandboxDecline extends EsignCommand {
  static override summary = 'Decline to sign an envelope in the sandbox.';
  static override examples = [
    '<%= config.bin %> sandbox decline env_123 --reason "the rent is wrong"',
    '<%= config.bin %> sandbox decline env_123 --signer ada@example.com',
    '<%= config.bin %> sandbox decline env_123 --json',
  ];
  static override args = {
    envelope: Args.string({ description: 'envelope to decline', required: true, ignoreStdin: true }),
  };
  static override flags = {
    signer: Flags.string({ description: 'who declines; whoever is next without it', helpValue: 'EMAIL|ID' }),
    reason: Flags.string({ description: 'why', default: 'Declined in the sandbox', helpValue: 'TEXT' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SandboxDecline);
    const around = this.surroundings(flags);
    const sandbox = await around.sandbox();
    const declined = await sandbox.decline(
      args.envelope,
      { signer: flags.signer, reason: flags.reason },
      around.signal,
    );
    await writeEnvelopeAction('Declined', declined, around);
  }
}
