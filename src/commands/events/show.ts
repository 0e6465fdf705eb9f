import * as Args from '@oclif/core/args';
import { EsignCommand } from '../../cli/command.ts';
import { findEvent } from '../../cli/event-sending.ts';
import { eventJson, renderEvent } from '../../output/event-view.ts';
import { writeJson } from '../../output/json.ts';

export default class EventsShow extends EsignCommand {
  static override summary = 'Show a received webhook: headers, body, and whether its signature was good.';
  static override examples = [
    '<%= config.bin %> events show dlv_0123',
    '<%= config.bin %> events show dlv_0123 --json | jq .body',
    '<%= config.bin %> events show "$(<%= config.bin %> events list -q -L 1)"',
  ];
  static override args = {
    id: Args.string({ description: 'delivery id, or its beginning', required: true, ignoreStdin: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EventsShow);
    const around = this.surroundings(flags);
    const record = await findEvent(args.id);
    if (around.json) return writeJson(eventJson(record), around.hidingSecrets());
    await around.hidingSecrets().out(renderEvent(record, around.terminal));
  }
}
