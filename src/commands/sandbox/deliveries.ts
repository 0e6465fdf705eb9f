import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { sandboxDeliveryList } from '../../output/delivery-view.ts';
import { writeList } from '../../output/list.ts';

export default class SandboxDeliveries extends EsignCommand {
  static override summary = 'List the webhooks the sandbox has sent or will try again.';
  static override examples = [
    '<%= config.bin %> sandbox deliveries',
    '<%= config.bin %> sandbox deliveries --envelope env_123',
    '<%= config.bin %> sandbox deliveries --json',
  ];
  static override flags = {
    envelope: Flags.string({ description: 'only of this envelope', helpValue: 'ID' }),
    csv: listFlags.csv,
    fields: listFlags.fields,
    quiet: listFlags.quiet,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SandboxDeliveries);
    const around = this.surroundings(flags);
    const sandbox = await around.sandbox();
    await writeList(
      await sandbox.deliveries(flags.envelope, around.signal),
      sandboxDeliveryList(around.clock.now()),
      flags,
      around.terminal,
    );
  }
}
