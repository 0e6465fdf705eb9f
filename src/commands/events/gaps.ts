import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, formatFlags, sinceFlag } from '../../cli/flags.ts';
import { reportGaps } from '../../cli/webhooks/gaps.ts';

export default class EventsGaps extends EsignCommand {
  static override summary =
    'Compare the received webhooks with the API: what never came, and what is not so.';
  static override description =
    'Ends with 0 when there are no gaps, with 10 when there are. Envelopes without a webhook URL are passed over. The time of a cancellation is not known: one that was missed is told until the journal forgets the envelope.';
  static override examples = [
    '<%= config.bin %> events gaps',
    '<%= config.bin %> events gaps --since 7d --webhook-url https://hooks.example.com/esign --json',
    '<%= config.bin %> events gaps -q | sort -u | xargs <%= config.bin %> envelopes get',
  ];
  static override flags = {
    ...formatFlags,
    since: sinceFlag({ description: 'moves and events since then (default 24h)', helpValue: '24h|DATE' }),
    grace: durationFlag({
      description: 'how long an event may be on its way (default 1m)',
      helpValue: '1m',
    }),
    'webhook-url': Flags.string({
      description: 'only envelopes whose events go to this address',
      helpValue: 'URL',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsGaps);
    await reportGaps(flags, this.context(flags));
  }
}
