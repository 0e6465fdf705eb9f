import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { watchToTheEnd } from '../../cli/envelopes/watch/watch.ts';
import { durationFlag, statusesFlag } from '../../cli/flags.ts';

export default class EnvelopesWatch extends EsignCommand {
  static override summary = 'Follow envelopes until they are completed, or have ended otherwise.';
  static override description =
    'Prints a line per change. Ends with 0 when every envelope reached an awaited status, 11 when one ended otherwise, 124 when --timeout ran out. Outages are waited out.';
  static override examples = [
    '<%= config.bin %> envelopes watch env_123',
    '<%= config.bin %> envelopes watch env_123 --until IN_PROGRESS,COMPLETED --timeout 2h',
    '<%= config.bin %> envelopes watch --status SENT,IN_PROGRESS',
    '<%= config.bin %> envelopes watch env_123 --json | jq -r "[.at, .to] | @tsv"',
  ];
  static override strict = false;
  static override args = {
    id: Args.string({ description: 'ids, or - to read them from stdin', ignoreStdin: true }),
  };
  static override flags = {
    until: statusesFlag({ description: 'statuses to wait for (default COMPLETED)', helpValue: 'A,B' }),
    status: statusesFlag({
      description: 'all that have these statuses, also those that come to have them',
      helpValue: 'A,B',
    }),
    exec: Flags.string({
      description:
        'command to run for each envelope that reaches an awaited status; the change is on its stdin',
      helpValue: 'CMD',
    }),
    notify: Flags.boolean({ description: 'ring, and tell the desktop, when an envelope has ended' }),
    // Its own meaning here: how long to wait at most, not how long a request may take.
    timeout: durationFlag({
      description: 'give up after this long, with exit code 124',
      helpValue: '2h',
      least: 1,
    }),
    interval: durationFlag({
      description: 'pause between looks (default 5s, up to 60s while nothing moves)',
      helpValue: '5s',
      least: 200,
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesWatch);
    const context = this.context({ ...flags, timeout: undefined });
    await watchToTheEnd(argv.map(String), flags, context);
  }
}
