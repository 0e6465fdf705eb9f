import { EsignCommand } from '../../cli/command.ts';
import { exportListFlags, fieldsFlag, optionalArg, sinceFlag } from '../../cli/flags.ts';
import { withLimit } from '../../cli/input/limit-flags.ts';
import { outputTable } from '../../cli/output-table.ts';
import { eventsDir } from '../../kernel/files/paths.ts';
import { mapEach } from '../../kernel/streams.ts';
import { writeList } from '../../output/print-list.ts';
import { readEvents } from '../journal/event-journal.ts';
import { eventJson } from './event-json.ts';
import { eventList } from './event-table.ts';

export default class EventsList extends EsignCommand {
  static override summary = 'List the webhooks that `listen` received on this machine, newest first.';
  static override examples = [
    '<%= config.bin %> events list',
    '<%= config.bin %> events list env_123 --all',
    '<%= config.bin %> events list --since 1d --json | jq ".[] | select(.verified | not)"',
  ];
  static override args = {
    envelope: optionalArg('envelope ID: only the webhooks for this envelope'),
  };
  static override flags = {
    ...exportListFlags,
    fields: fieldsFlag('receivedAt,event,envelopeId'),
    since: sinceFlag({
      description: 'only webhooks received since this time',
      helpValue: '7d|DATE',
    }),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(EventsList);
    const table = outputTable(flags, context.terminal);
    const now = context.session.clock.now();
    const selection = { envelopeId: args.envelope, since: flags.since?.(now) };
    const records = readEvents(eventsDir(), selection, (message) => context.terminal.notice(message));
    const events = withLimit.take(mapEach(records, eventJson), flags, context);
    await writeList(events, eventList(now), { ...flags, table }, context.terminal.hidingSecrets());
  }
}
