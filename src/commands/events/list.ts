import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, exportListFlags, fieldsFlag, inGroup, sinceFlag, textFlag } from '../../cli/flags.ts';
import { limited } from '../../cli/input/limit.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { mapEach } from '../../kernel/streams.ts';
import { writeList } from '../../output/list.ts';
import { readEvents } from '../../webhooks/journal/event-journal.ts';
import { eventNames } from './event-flags.ts';
import { eventJson, eventList } from './event-view.ts';

export default class EventsList extends EsignCommand {
  static override summary = 'List the webhooks that `listen` received on this machine, newest first.';
  static override examples = [
    '<%= config.bin %> events list',
    '<%= config.bin %> events list --envelope env_123 --events completed,declined',
    '<%= config.bin %> events list --unverified --since 1d --json',
  ];
  static override flags = {
    ...exportListFlags,
    fields: fieldsFlag('receivedAt,event,envelopeId'),
    ...inGroup('FILTER', {
      events: textFlag('A,B', 'only these events'),
      envelope: textFlag('ID', 'only events for this envelope'),
      since: sinceFlag({ description: 'only webhooks received since this time', helpValue: '7d|DATE' }),
      verified: booleanFlag('only webhooks with a valid signature', { exclusive: ['unverified'] }),
      unverified: booleanFlag('only webhooks without a valid signature'),
    }),
  };

  async run(): Promise<void> {
    const { flags, context } = await this.start(EventsList);
    const now = context.session.clock.now();
    const verified = flags.verified ? true : flags.unverified ? false : undefined;
    const selection = {
      events: eventNames(flags.events),
      envelopeId: flags.envelope,
      since: flags.since?.(now),
      verified,
    };
    const records = readEvents(eventsDir(), selection, (message) => context.terminal.notice(message));
    const events = limited.take(mapEach(records, eventJson), flags, context);
    await writeList(events, eventList(now), flags, context.terminal);
  }
}
