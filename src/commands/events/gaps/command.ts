import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag, formatFlags, sinceFlag } from '../../../cli/flags.ts';
import { reportGaps } from './run.ts';

export default class EventsGaps extends EsignCommand {
  static override summary =
    'Compare received webhooks with the API and list missing or contradictory events.';
  static override description =
    "Exits with 10 if there are gaps, otherwise with 0. Envelopes without a webhook URL are skipped. The API doesn't show when an envelope was canceled, so a missed cancellation is reported until the envelope leaves the journal.";
  static override examples = [
    '<%= config.bin %> events gaps',
    '<%= config.bin %> events gaps --since 7d --webhook-url https://hooks.example.com/esign --json',
    '<%= config.bin %> events gaps -q | <%= config.bin %> envelopes get -',
  ];
  static override flags = {
    ...formatFlags,
    since: sinceFlag({
      description: 'check changes and events since this time (default 24h)',
      helpValue: '24h|DATE',
    }),
    grace: durationFlag({
      description: 'how long a delivery may take before it counts as missing (default 1m)',
      helpValue: '1m',
    }),
    'webhook-url': Flags.string({
      description: 'only envelopes with this webhook URL',
      helpValue: 'URL',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsGaps);
    await reportGaps(flags, this.context(flags));
  }
}
