import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { drillReceiver } from '../../cli/webhooks/drill.ts';

export default class EventsDrill extends EsignCommand {
  static override summary = 'Send a receiver what it must stand, and show what it did with each.';
  static override description =
    'Good, repeated and overtaken deliveries, forged and changed ones, unknown events and fields, both payload shapes, 1 MiB, a slow sender: all with made-up envelopes, in ten seconds at most. Ends with 0 when it did everything right, with 10 when it did wrong, with 8 when nobody listens.';
  static override examples = [
    '<%= config.bin %> events drill --to http://localhost:3000/webhooks --secret-file webhook.secret',
    '<%= config.bin %> events drill --to localhost:3000/webhooks --secret-file webhook.secret --events signed,completed',
    'ESIGN_WEBHOOK_SECRET=… <%= config.bin %> events drill --to http://localhost:3000/hook --json | jq "select(.ok | not)"',
  ];
  static override flags = {
    to: Flags.string({ description: 'the receiver', required: true, helpValue: 'URL' }),
    'secret-file': Flags.string({
      description: 'file with the secret it checks with; or ESIGN_WEBHOOK_SECRET',
      helpValue: 'FILE',
    }),
    events: Flags.string({ description: 'the events it takes (default all)', helpValue: 'A,B' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsDrill);
    await drillReceiver(flags, this.context(flags));
  }
}
