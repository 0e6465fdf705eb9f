import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { dryRunFlag, optionalArg, sinceFlag, textFlag } from '../../cli/flags.ts';
import { readIds } from '../../cli/input/ids.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { UsageError } from '../../kernel/errors.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { readEvents } from '../../webhooks/journal/event-journal.ts';
import type { EventRecord } from '../../webhooks/journal/record.ts';
import { findEvent, forwardable, sendAll, showDeliveries, targetUrl } from './send.ts';

export default class EventsReplay extends EsignCommand {
  static override summary = 'Resend received webhooks, byte for byte, with their headers.';
  static override examples = [
    '<%= config.bin %> events replay dlv_0123 --to http://localhost:3000/webhooks',
    '<%= config.bin %> events replay --envelope env_123 --to http://localhost:3000/webhooks',
    '<%= config.bin %> events replay --since 1h --to http://localhost:3000/webhooks --dry-run',
  ];
  static override strict = false;
  static override args = {
    id: optionalArg('delivery IDs, or `-` to read them from stdin'),
  };
  static override flags = {
    to: Flags.string({ description: 'URL to send them to', required: true, helpValue: 'URL' }),
    envelope: textFlag('ID', 'resend all accepted webhooks for this envelope'),
    since: sinceFlag({ description: 'resend all webhooks accepted since this time', helpValue: '1h|DATE' }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { argv, flags, context } = await this.start(EventsReplay);
    const url = targetUrl(flags.to);
    let records: EventRecord[] = [];
    const isSelected = flags.envelope !== undefined || flags.since !== undefined;
    if (isSelected && argv.length > 0)
      throw new UsageError("Delivery IDs can't be combined with --envelope or --since. Nothing was sent.", {
        hint: 'Leave out either the IDs or these flags.',
      });
    if (isSelected) {
      const since = flags.since?.(context.session.clock.now());
      records = await selected({ envelopeId: flags.envelope, since }, context.terminal);
    } else {
      const { ids } = await readIds(argv.map(String), 'delivery ID', context.terminal);
      if (ids.length === 0) return;
      for (const id of ids) records.push(await findEvent(id, context.terminal));
    }
    if (records.length === 0) return context.terminal.notice('No received webhooks match. Nothing was sent.');
    const deliveries = records.map(forwardable);
    if (flags['dry-run']) return showDeliveries(deliveries, url, context.terminal);
    await sendAll(deliveries, url, context);
  }
}

/** Returns the accepted webhooks that match, oldest first. */
async function selected(
  wanted: { envelopeId: string | undefined; since: number | undefined },
  terminal: CommandTerminal,
): Promise<EventRecord[]> {
  const records: EventRecord[] = [];
  for await (const record of readEvents(eventsDir(), wanted, (message) => terminal.notice(message)))
    if (record.reason === null && !record.duplicate) records.unshift(record);
  return records;
}
