import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag, statusesFlag } from '../../../cli/flags.ts';
import { idsOrFilters, selectionFlags } from '../../../cli/selection/flags.ts';
import { watchUntilDone } from './run.ts';

export default class EnvelopesWatch extends EsignCommand {
  static override summary = 'Watch envelopes until they are completed or end in another status.';
  static override description =
    'Prints a line for each change. Exits with 0 when every envelope has reached one of the --until statuses, 11 when one ended in another status, and 124 after --timeout. Waits through outages.';
  static override examples = [
    '<%= config.bin %> envelopes watch env_123',
    '<%= config.bin %> envelopes watch env_123 --until IN_PROGRESS,COMPLETED --timeout 2h',
    '<%= config.bin %> envelopes watch --status SENT,IN_PROGRESS',
    '<%= config.bin %> envelopes watch --run last --timeout 8h',
    '<%= config.bin %> envelopes watch env_123 --json | jq -r "[.at, .to] | @tsv"',
  ];
  static override strict = false;
  static override args = idsOrFilters;
  static override flags = {
    until: statusesFlag({ description: 'statuses to wait for (default COMPLETED)', helpValue: 'A,B' }),
    ...selectionFlags,
    status: statusesFlag({
      description: 'envelopes with one of these statuses; without other filters, including new ones',
      helpValue: 'A,B',
      helpGroup: 'FILTER',
    }),
    exec: Flags.string({
      description:
        'command to run when an envelope reaches one of the --until statuses; it gets the change as JSON on stdin',
      helpValue: 'CMD',
    }),
    notify: Flags.boolean({
      description: 'ring the bell and show a desktop notification when an envelope is finished',
    }),
    // Unlike the global flag, this is the maximum wait, not the timeout of a request.
    timeout: durationFlag({
      description: 'give up after this long and exit with code 124',
      helpValue: '2h',
      least: 1,
    }),
    interval: durationFlag({
      description: 'polling interval (default 5s, up to 60s while nothing changes)',
      helpValue: '5s',
      least: 200,
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesWatch);
    const context = this.context({ ...flags, timeout: undefined });
    await watchUntilDone(argv.map(String), flags, context);
  }
}
