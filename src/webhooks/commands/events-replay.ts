import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag, optionalArg } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import { findEvents, sendAll, showDeliveries, targetUrl, toForwardable } from './send-to-receiver.ts';

export default class EventsReplay extends EsignCommand {
  static override summary = 'Resend received webhooks, byte for byte, with their headers.';
  static override description = 'They are sent one after another, in the order in which they were received.';
  static override examples = [
    '<%= config.bin %> events replay dlv_0123 --to http://localhost:3000/webhooks',
    '<%= config.bin %> events replay dlv_0123 --to http://localhost:3000/webhooks --json',
    '<%= config.bin %> events list env_123 -q | <%= config.bin %> events replay - --to http://localhost:3000/webhooks',
  ];
  static override strict = false;
  static override args = {
    id: optionalArg('delivery IDs, or `-` to read them from stdin'),
  };
  static override flags = {
    to: Flags.string({ description: 'URL to send them to', required: true, helpValue: 'URL' }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags, context } = await this.start(EventsReplay);
    const url = targetUrl(flags.to);
    const { ids } = await readIds(argv.map(String), 'delivery ID', context.terminal);
    const records = await findEvents(ids, context.terminal);
    // `events list` prints the newest first, also those of the same millisecond.
    records.reverse().sort((a, b) => Date.parse(a.receivedAt) - Date.parse(b.receivedAt));
    const deliveries = records.map(toForwardable);
    if (flags['dry-run']) return showDeliveries(deliveries, url, context.terminal);
    await sendAll(deliveries, url, context);
  }
}
