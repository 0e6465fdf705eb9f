import { EsignCommand } from '../../cli/command.ts';
import { requiredArg } from '../../cli/flags.ts';
import { writeJson } from '../../output/json.ts';
import { eventJson } from './event-json.ts';
import { renderEvent } from './event-text.ts';
import { findEvents } from './send-to-receiver.ts';

export default class EventsShow extends EsignCommand {
  static override summary = 'Show a received webhook: headers, body, and whether its signature is valid.';
  static override examples = [
    '<%= config.bin %> events show dlv_0123',
    '<%= config.bin %> events show dlv_0123 --json | jq .body',
    '<%= config.bin %> events show "$(<%= config.bin %> events list -q -L 1)"',
  ];
  static override args = {
    id: requiredArg('delivery ID, in full or as `events list` shows it'),
  };

  async run(): Promise<void> {
    const { args, terminal } = await this.start(EventsShow);
    for (const record of await findEvents([args.id], terminal))
      if (terminal.json) await writeJson(eventJson(record), terminal.hidingSecrets());
      else await terminal.hidingSecrets().out(renderEvent(record, terminal));
  }
}
