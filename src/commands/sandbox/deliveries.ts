import { EsignCommand } from '../../cli/command.ts';
import { fieldsFlag, formatFlags, textFlag } from '../../cli/flags.ts';
import { writeList } from '../../output/list.ts';
import { sandboxDeliveryList } from '../events/delivery-view.ts';

export default class SandboxDeliveries extends EsignCommand {
  static override summary = 'List the webhooks that the sandbox has sent or will retry.';
  static override examples = [
    '<%= config.bin %> sandbox deliveries',
    '<%= config.bin %> sandbox deliveries --envelope env_123',
    '<%= config.bin %> sandbox deliveries --json',
  ];
  static override flags = {
    envelope: textFlag('ID', 'only webhooks for this envelope'),
    ...formatFlags,
    fields: fieldsFlag('event,state,url'),
  };

  async run(): Promise<void> {
    const { flags, session, terminal } = await this.start(SandboxDeliveries);
    const sandbox = await session.sandbox();
    const deliveries = await sandbox.deliveries(flags.envelope);
    await writeList(deliveries, sandboxDeliveryList(session.now()), flags, terminal);
  }
}
