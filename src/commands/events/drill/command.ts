import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { drillReceiver } from './run.ts';

export default class EventsDrill extends EsignCommand {
  static override summary =
    'Test a webhook receiver with valid, forged, duplicate, and malformed deliveries.';
  static override description =
    'Sends valid, duplicate, out-of-order, forged, and altered deliveries, unknown events and fields, both payload shapes, a 1 MiB body, and a slow request. All deliveries are for made-up envelopes. The test takes at most ten seconds. Exits with 0 if every response is correct, 10 if one is wrong, and 8 if nothing is listening.';
  static override examples = [
    '<%= config.bin %> events drill --to http://localhost:3000/webhooks --secret-file webhook.secret',
    '<%= config.bin %> events drill --to localhost:3000/webhooks --secret-file webhook.secret --events signed,completed',
    'ESIGN_WEBHOOK_SECRET=… <%= config.bin %> events drill --to http://localhost:3000/hook --json | jq "select(.ok | not)"',
  ];
  static override flags = {
    to: Flags.string({ description: 'receiver URL', required: true, helpValue: 'URL' }),
    'secret-file': Flags.string({
      description: "file with the receiver's webhook secret (or set ESIGN_WEBHOOK_SECRET)",
      helpValue: 'FILE',
    }),
    events: Flags.string({ description: 'events the receiver handles (default: all)', helpValue: 'A,B' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsDrill);
    await drillReceiver(flags, this.context(flags));
  }
}
