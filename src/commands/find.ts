import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../cli/command.ts';
import { findEnvelopes } from '../cli/envelopes/find.ts';
import { listFlags, statusesFlag } from '../cli/flags.ts';

export default class Find extends EsignCommand {
  static override summary = 'Find envelopes by what a caller knows: a name, an address, a subject.';
  static override description =
    'Each word must begin a word of the id, the subject, the name or address of a signer, the name or id of the template, or a metadata value; case and accents do not count. The newest come first. What is known of envelopes that can change no more is kept on this machine, so that only the first search reads them all; see `esign index show`.';
  static override examples = [
    '<%= config.bin %> find lukasz',
    '<%= config.bin %> find rehor 1377',
    '<%= config.bin %> find lukasz@example.com --status SENT,IN_PROGRESS',
    '<%= config.bin %> find contract 1377 -q',
  ];
  static override strict = false;
  static override args = {
    text: Args.string({ description: 'beginnings of words', required: true, ignoreStdin: true }),
  };
  static override flags = {
    ...listFlags,
    status: statusesFlag({ description: 'only these statuses', helpValue: 'A,B', helpGroup: 'FILTER' }),
    cached: Flags.boolean({ description: 'from what is known here, without asking the service' }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Find);
    await findEnvelopes(argv.map(String), flags, this.context(flags));
  }
}
